import PeerSyncStore

/// Sync for an app that has no task of its own for it.
extension SyncEngine {
    /// Begins what ``run()`` does, in a task of the engine's own, and returns: at once, unless a run before is just ending. A machine
    /// that is not there is no error, nor is a pause. Does nothing if it was started before.
    ///
    /// An app calls either this or ``run()``; the second of the two throws, unless the first is just ending. The engine runs, and
    /// stays in memory, until ``stop()``. If a file of the database was removed or replaced, sync ends until the next call, and the
    /// event `syncEnded` says so with the code `storeUnusable`. Where several tasks start and stop at once, the last call counts.
    ///
    /// - Throws: ``PeerSyncError`` `cannotListen` when ``port`` is none, or while ``run()`` goes on. `CancellationError` when the task is
    ///   cancelled while it waits for the end of the run before.
    public func start() async throws {
        let listener = backgroundListener
        try listener.checkPort()
        try await started.start(listener, logger: logger) { [onEvent] error in
            onEvent(.syncEnded(PeerSyncError(store: error)))
        }
    }

    /// Ends what ``start()`` has begun: says goodbye to the other machines, and returns when its sessions have ended; those of
    /// ``syncNow()`` end by themselves. Does nothing if it was not started. Writes still count, and go to the others after the next
    /// ``start()``. Do not call it from the closure that decides about zones: a session waits for that.
    public func stop() async { await started.stop() }

    /// Switches sync off for this database until ``resume()``, in all programs that have it open, and after the next launch, too.
    /// Sessions end soon, and the other machines hear why. Writes still count, and go to the others then. This is a user's switch: an app
    /// that only goes to the background calls ``stop()``.
    ///
    /// ``/PeerSyncStore/StoreStatus/isSyncOn`` says whether sync is paused.
    ///
    /// - Throws: errors of SQLite.
    public func pause() async throws { try await store.settings.setSyncOn(false) }

    /// Switches sync on again after ``pause()``. An engine that runs goes on by itself; one that does not stays as it is.
    ///
    /// - Throws: errors of SQLite.
    public func resume() async throws { try await store.settings.setSyncOn(true) }

    /// Syncs with every paired machine once, now, whether sync was started or not: connects to each that is not connected, and lets
    /// those that are acknowledge what was written here. The statistics of a connection that was there count from its beginning, and
    /// its files may still be on their way.
    ///
    /// - Returns: for each machine, by its name, how the sync ended. A machine that is not there has the error `unreachable`.
    /// - Throws: ``PeerSyncError`` `switchedOff` while sync is paused; errors of SQLite when it cannot read which machines there are.
    @discardableResult
    public func syncNow() async throws -> [String: Result<SyncReport, PeerSyncError>] {
        try await checkSwitch()
        let turns = AsyncSemaphore(KnownPeers.dialLimit)
        return try await withThrowingTaskGroup(of: (String, Result<SyncReport, PeerSyncError>).self) {
            group in
            for peer in try await store.peers.all() {
                group.addTask {
                    try await turns.wait()
                    defer { turns.signal() }
                    return (peer.name, try await self.syncOnce(with: peer))
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func syncOnce(with peer: Peer) async throws -> Result<SyncReport, PeerSyncError> {
        while true {
            // A session that ends meanwhile leaves the work to a connection of its own.
            for session in connections.sessions(with: peer.id) {
                if let report = await session.caughtUp() { return .success(report) }
                try Task.checkCancellation()
            }
            do {
                return .success(try await SyncConnector(self, to: peer).syncOnce())
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // The machine has connected meanwhile, and that connection may have taken the place of this one.
                let error = PeerSyncError(store: error)
                guard [.duplicateConnection, .interrupted].contains(error.code),
                    connections.hasAny(with: peer.id)
                else { return .failure(error) }
            }
        }
    }
}
