import GRDB
import Logging
import RecordStore
import Synchronization

/// Tells sessions that the store has changed, whichever process changed it.
///
/// A watch on the database's files says when to look; what it is looked at by is `PRAGMA data_version` of a connection
/// of its own, which changes with every commit of every other connection, in this process and in others.
final class StoreWatch: Sendable {
    /// How often it is looked without a reason, in case the file system says nothing.
    private static let fallbackInterval: Duration = .seconds(2)
    /// How often it is looked where the files cannot be watched.
    private static let pollingInterval: Duration = .milliseconds(100)

    private let listeners = Mutex<[Int: AsyncStream<Void>.Continuation]>([:])
    private let nextID = Mutex(0)

    /// A stream with an element after each change; changes that nobody has waited for are one element.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = nextID.withLock { id in
            id += 1
            return id
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.removeValue(forKey: id) }
        }
        listeners.withLock { $0[id] = continuation }
        return stream
    }

    /// Watches until cancelled.
    func run(_ store: RecordStore, logger: Logger) async {
        while !Task.isCancelled {
            do {
                return try await watch(store, logger)
            } catch {
                logger.warning("cannot watch the store: \(error)")
                try? await Task.sleep(for: Self.fallbackInterval)
            }
        }
    }

    private func watch(_ store: RecordStore, _ logger: Logger) async throws {
        var configuration = Configuration()
        configuration.readonly = true
        let connection = try DatabaseQueue(path: store.database.path, configuration: configuration)
        // Reading makes the log, which some systems can watch only once it is there.
        var last = try await Self.version(connection)
        let watch = FileWatch(database: store.database.path)
        if watch == nil {
            logger.notice("the database's files cannot be watched; looking ten times a second")
        }
        let interval = watch == nil ? Self.pollingInterval : Self.fallbackInterval
        let (looks, look) = AsyncStream<Look>.makeStream(bufferingPolicy: .bufferingNewest(2))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard let watch else { return }
                for await _ in watch.changes { look.yield(.afterWrite) }
            }
            group.addTask {
                while (try? await Task.sleep(for: interval)) != nil { look.yield(.byTheClock) }
                look.finish()
            }
            for await kind in looks {
                do {
                    let version = try await Self.version(
                        connection, other: last, patiently: kind == .afterWrite)
                    if last != version { notify() }
                    last = version
                } catch {
                    logger.warning("cannot see whether the store has changed: \(error)")
                }
            }
            group.cancelAll()
        }
    }

    private enum Look { case afterWrite, byTheClock }

    /// The version of the database.
    ///
    /// A commit is written to the log some moments before readers can see it; so after a write it is looked again
    /// until the version is another one, for an eighth of a second.
    private static func version(_ connection: DatabaseQueue, other last: Int64?, patiently: Bool) async throws
        -> Int64?
    {
        var pause: Duration = .milliseconds(patiently ? 1 : 128)
        while true {
            let version = try await version(connection)
            guard version == last, pause < .milliseconds(128) else { return version }
            try await Task.sleep(for: pause)
            pause = pause * 2
        }
    }

    private static func version(_ connection: DatabaseQueue) async throws -> Int64? {
        try await connection.read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
        }
    }

    private func notify() {
        let continuations = listeners.withLock { Array($0.values) }
        for continuation in continuations { continuation.yield() }
    }
}
