import Foundation
import PeerSyncModel
import PeerSyncStore

/// The tasks that run beside all sessions, and the copies of the database that protect a user's data.
extension SyncEngine {
    /// Runs `body` while watching the store and its settings.
    ///
    /// - Parameters:
    ///   - sessions: the sessions that `body` runs. The engine tells the other machines why they end.
    ///   - stop: ends the sessions, and whatever starts new ones.
    /// - Throws: what `body` throws; ``PeerSyncError``: `switchedOff`; `storeUnusable` when somebody has removed or
    ///   replaced a file of the store, and the engine has saved what is open.
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
        // The files may have gone after the last check. A failure since then came from that.
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
                    // At once, because ending sessions write. If it fails, the rescue tells why.
                    if error is OpenFiles.Loss { try? await self.store.databaseFile.leave() }
                    stop()
                    await sessions.waitUntilEmpty()
                    throw error
                }
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                guard let value = ended else { continue }
                // If the watch has stopped `body`, waitForAll throws the watch's error instead of giving the value.
                group.cancelAll()
                try await group.waitForAll()
                return value
            }
            throw CancellationError()
        }
    }

    /// Calls `onChange` when the watch of a listener or a connector finds that the store has changed, by whichever process. The caller
    /// keeps what it gets for as long as it wants to hear of that.
    package func observeWatch(_ onChange: @escaping @Sendable () -> Void) -> any Sendable {
        watch.observe(onChange)
    }

    /// Watches until cancelled.
    ///
    /// - Throws: ``OpenFiles/Loss``; ``PeerSyncError`` `switchedOff`.
    func watchStore() async throws {
        let trouble = StoreTrouble(logger, onEvent: onEvent)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await self.watch.run(self.files, trouble, logger: self.logger) {
                        self.onEvent(.withheld(name: nil, zone: nil, count: $0))
                    }
                }
                group.addTask { try await self.settings.run(self.store, self.watch, trouble) }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch is CancellationError {
            // GRDB throws this when a cancelled task accesses the store. It is an ordinary end.
        }
    }

    /// Saves the open content of a store whose files are not at their paths any more.
    ///
    /// - Returns: the error for the user.
    func rescue(from found: OpenFiles.Loss) async -> PeerSyncError {
        let database = store.database.path
        // If the database is gone, too, its path says more than that of the file beside it.
        let loss = files?.loss ?? found
        let process = ProcessInfo.processInfo.processIdentifier
        // Two programs that have the store open may save it at the same time.
        let copy = newBackup("rescued", "-\(process)")
        let what = "\(loss.path) was removed or replaced while it was open"
        // An unstructured task, so that a cancelled task saves, too.
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

    /// Copies the database to a new file in the folder `backups` beside it. The time is in the file's name.
    package func backUp() async throws -> (url: URL, moment: BackupMoment) {
        let url = newBackup(words.backupName, "")
        // Folding first takes in all earlier writes, so that no fold counts as a change after the backup.
        try await store.foldPendingChanges()
        return (url, try await store.databaseFile.backUp(to: url))
    }

    /// The URL of a new file with the time in its name.
    private func newBackup(_ prefix: String, _ suffix: String) -> URL {
        let time = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded) ?? "unknown"
        let name = "\(prefix)-\(time.replacingOccurrences(of: ":", with: "-"))\(suffix).sqlite"
        return URL(fileURLWithPath: store.database.path).deletingLastPathComponent()
            .appendingPathComponent("backups", isDirectory: true).appendingPathComponent(name)
    }
}
