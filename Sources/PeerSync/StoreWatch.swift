import GRDB
import Logging
import RecordStore
import Synchronization

/// Tells sessions that the store has changed, whichever process changed it.
///
/// `PRAGMA data_version` of a connection of its own changes with every commit of every other connection, in this
/// process and in others; asking costs a few microseconds.
final class StoreWatch: Sendable {
    /// How often the question is asked: a change is on its way well within a second.
    static let interval: Duration = .milliseconds(100)

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
    func run(_ store: RecordStore, logger: Logger) async throws {
        var configuration = Configuration()
        configuration.readonly = true
        let connection = try DatabaseQueue(path: store.database.path, configuration: configuration)
        var last: Int64?
        while !Task.isCancelled {
            do {
                let version = try await connection.read { db in
                    try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
                }
                if let last, last != version { notify() }
                last = version
            } catch is CancellationError {
                return
            } catch {
                logger.warning("cannot see whether the store has changed: \(error)")
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func notify() {
        let continuations = listeners.withLock { Array($0.values) }
        for continuation in continuations { continuation.yield() }
    }
}
