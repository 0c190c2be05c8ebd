import Foundation
import RecordStore
import SyncModel

/// What goes on beside all sessions, and the copies that are made when something is given up or goes wrong.
extension SyncEngine {
    /// Runs `body` while the store is watched, and what its user decides.
    ///
    /// - Parameters:
    ///   - sessions: those that `body` runs. The other machines are told why they end.
    ///   - stop: ends them, and whatever makes new ones.
    /// - Throws: what `body` throws; ``PeerSyncError``: `switchedOff`; `storeUnusable` when a file of the store was removed
    ///   or replaced, and what is open was saved.
    func whileWatching<Value: Sendable>(
        _ sessions: SessionSet, stop: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = .success(try await watching(sessions, stop, body))
        } catch {
            result = .failure(error)
        }
        if case .failure(let loss as OpenFiles.Loss) = result { throw await rescue(from: loss) }
        // Nobody may have looked since they went. And what failed since then failed because of that.
        if let loss = files?.loss { throw await rescue(from: loss) }
        return try result.get()
    }

    private func watching<Value: Sendable>(
        _ sessions: SessionSet, _ stop: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                do {
                    try await self.watchStore()
                } catch {
                    // At once, because sessions that end write. If it fails, the rescue tells why.
                    if error is OpenFiles.Loss { try? await self.store.databaseFile.leave() }
                    stop()
                    try? await sessions.waitUntilEmpty()
                    throw error
                }
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                guard let value = ended else { continue }
                // What has ended because it was stopped comes to nothing: the watch then says why.
                group.cancelAll()
                try await group.waitForAll()
                return value
            }
            throw CancellationError()
        }
    }

    /// Watches until cancelled.
    ///
    /// - Throws: ``OpenFiles/Loss``; ``PeerSyncError`` `switchedOff`.
    func watchStore() async throws {
        let trouble = StoreTrouble(logger, onEvent: onEvent)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await self.watch.run(self.store, self.files, trouble, logger: self.logger)
                }
                group.addTask { try await self.settings.run(self.store, self.watch, trouble) }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch is CancellationError {
            // The store says so when it is asked for the first time and nobody wants to know any more. That is an end
            // like any other.
        }
    }

    /// Saves what is open of a store whose files are not at their paths any more.
    ///
    /// - Returns: what to tell the user.
    private func rescue(from found: OpenFiles.Loss) async -> PeerSyncError {
        let database = store.database.path
        // The database itself says more than what is beside it, if it went, too.
        let loss = files?.loss ?? found
        let process = ProcessInfo.processInfo.processIdentifier
        // Two programs that have the store open may save it at once.
        let copy = newBackup("rescued", "-\(process)")
        let what = "\(loss.path) was removed or replaced while it was open"
        // Also when the task is cancelled.
        let failure = await Task { [store] () -> (any Error)? in
            do {
                try await store.databaseFile.leave()
                try await store.databaseFile.copy(to: copy)
                return nil
            } catch {
                return error
            }
        }.value
        if let failure {
            logger.error("\(copy.path) cannot be made: \(failure)")
            return PeerSyncError(
                .storeUnusable,
                "\(what), and what this program saw of the store cannot be saved as \(copy.path): "
                    + PeerSyncError(store: failure).message)
        }
        return PeerSyncError(
            .storeUnusable,
            "\(what); what this program saw of the store is saved as \(copy.path), "
                + (loss.path == database
                    ? "start again to use what is there now"
                    : "what other programs have written since then is in \(database)"))
    }

    /// Copies the database to a new file, named by the time, beside it.
    package func backUp() async throws -> (url: URL, moment: BackupMoment) {
        let url = newBackup(words.backupName, "")
        // What was written until now is folded, so that folding is no change after it.
        try await store.foldPendingChanges()
        return (url, try await store.databaseFile.backUp(to: url))
    }

    /// A file named by the time.
    private func newBackup(_ prefix: String, _ suffix: String) -> URL {
        let time = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded) ?? "unknown"
        let name = "\(prefix)-\(time.replacingOccurrences(of: ":", with: "-"))\(suffix).sqlite"
        return URL(fileURLWithPath: store.database.path).deletingLastPathComponent()
            .appendingPathComponent("backups", isDirectory: true).appendingPathComponent(name)
    }
}
