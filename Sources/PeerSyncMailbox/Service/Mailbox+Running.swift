import PeerSync
import PeerSyncStore
import ServiceLifecycle

/// A mailbox that is kept in step for as long as the program runs.
extension Mailbox: Service {
    /// Keeps the store in step with the mailbox: it looks after changes of the store, when a folder changes, and regularly. A storage that cannot
    /// be used is told once, and asked again; so is a store that another program holds.
    ///
    /// Runs until the task is cancelled or the service group shuts down. While sync is switched off, it waits.
    ///
    /// - Throws: ``MailboxError`` `invalid` when somebody has removed the mailbox from the store; ``/PeerSync/PeerSyncError`` `storeUnusable`
    ///   when a file of the database was removed or replaced while it waited.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { [self] in
                while true {
                    do {
                        return try await runUntilCancelled()
                    } catch let error as PeerSyncError where error.code == .switchedOff {
                        try await engine.waitUntilSwitchedOn()
                        try Task.checkCancellation()
                    }
                }
            }
        } catch is CancellationError {
            return
        }
    }

    private func runUntilCancelled() async throws {
        let pause = Pause()
        let changes = Signal()
        let writes = engine.store.observeWrites { changes.raise() }
        let watch = engine.observeWatch { changes.raise() }
        defer { withExtendedLifetime((writes, watch)) {} }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in changes {
                    guard (try? await Task.sleep(for: self.options.delay)) != nil else { return }
                    if await self.hasNews() { pause.hurry() }
                }
            }
            group.addTask { await self.watchStorage(pause) }
            group.addTask { try await self.repeatPasses(pause) }
            defer { group.cancelAll() }
            // The first that throws ends the others.
            while try await group.next() != nil {}
        }
    }

    /// Looks again when the storage tells that something has changed.
    private func watchStorage(_ pause: Pause) async {
        guard let watched = storage as? any WatchedMailboxStorage else { return }
        while !Task.isCancelled {
            if let changes = await watched.changes() {
                for await _ in changes { pause.hurry() }
                // It has gone, or nobody can watch it any more.
                pause.hurry()
            }
            // The folder that it watches comes with the first head, or with the disk that it is on.
            guard (try? await Task.sleep(for: min(options.interval, Self.longestAway))) != nil else { return }
        }
    }

    private func repeatPasses(_ pause: Pause) async throws {
        var told: String?
        var failures = 0
        while !Task.isCancelled {
            var waitsUntil: Int64?
            do {
                waitsUntil = try await pass(mayWait: true).waitsUntil
                if told != nil { onEvent(.recovered) }
                told = nil
                failures = 0
            } catch {
                let error = try Self.failure(error)
                // Another one may have its name by now. A store that cannot be read now may have it.
                let known = try? await engine.store.mailboxes.all()
                guard known?.contains(where: { $0.id == mailbox }) ?? true else { throw error }
                failures += 1
                if told != error.message { onEvent(.failed(error)) }
                told = error.message
            }
            await pause.sleep(self.pause(after: failures, waitsUntil: waitsUntil, now: engine.store.now()))
        }
    }

    /// What to tell of an error after which the next pass may succeed, such as that of a database that another program holds.
    ///
    /// - Throws: the error, if it ends ``run()``.
    private static func failure(_ error: any Error) throws -> MailboxError {
        switch error {
        case let error as MailboxError: return error
        case is CancellationError: throw error
        case let error as PeerSyncError where [.switchedOff, .storeUnusable].contains(error.code): throw error
        // Another version of the program has opened the database.
        case let error as RecordStoreError where error.code == .newerFormat: throw PeerSyncError(store: error)
        default:
            return MailboxError(.other, PeerSyncError(store: error).message, underlying: error)
        }
    }

    /// How long a storage of this machine may be back before somebody looks: its disk is there again.
    private static let longestAway = Duration.seconds(60)

    /// How long it is until the next pass, if nothing happens.
    ///
    /// - Parameters:
    ///   - failures: how often in a row the storage has failed.
    ///   - waitsUntil: until when changes wait for their own authors. They go in time, however seldom this machine looks for news.
    func pause(after failures: Int, waitsUntil: Int64?, now: Int64) -> Duration {
        let interval = Self.interval(
            options, failures: failures, isWatched: storage is any WatchedMailboxStorage)
        let pause = interval * Double.random(in: 1...1.25)
        return waitsUntil.map { min(pause, .milliseconds(max(0, $0 - now))) } ?? pause
    }

    /// How long to wait for the next pass after some failures in a row. A storage that fails is asked less and less often, at last every
    /// 16 minutes, or at the usual interval if that is longer. To ask one of this machine costs nothing, and nothing tells that it is back.
    static func interval(_ options: MailboxOptions, failures: Int, isWatched: Bool) -> Duration {
        guard failures > 0, isWatched else {
            let longest = max(options.interval, .seconds(16 * 60))
            return min(options.interval * (1 << min(failures, 4)), longest)
        }
        return min(options.interval, longestAway)
    }
}
