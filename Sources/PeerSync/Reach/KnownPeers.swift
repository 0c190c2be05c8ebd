import Logging
import RecordStore
import Synchronization

/// Dials the paired machines at the addresses where this one has reached them before, also those that are paired while
/// it runs. It says nothing when they are not there.
final class KnownPeers: Sendable {
    /// The pause after a failed attempt to read the addresses.
    private static let retryPause: Duration = .seconds(1)

    private let engine: SyncEngine
    private let sessions: SessionSet
    private let deadlines: Deadlines
    private let exceptions: Set<PeerAddress>
    /// The addresses that this dials, and for each whether the settings have changed since it began.
    private let dialled = Mutex<[PeerAddress: Bool]>([:])

    /// - Parameter exceptions: the addresses that somebody else dials.
    init(_ engine: SyncEngine, sessions: SessionSet, except exceptions: [PeerAddress], deadlines: Deadlines) {
        self.engine = engine
        self.sessions = sessions
        self.deadlines = deadlines
        self.exceptions = Set(exceptions)
    }

    /// Dials until cancelled.
    func run() async throws {
        let change = Signal()
        let observation = engine.settings.observers.add { change.raise() }
        defer { withExtendedLifetime(observation) {} }
        change.raise()
        try await withThrowingDiscardingTaskGroup { group in
            for await _ in change {
                for address in await addresses(orLater: change) where begin(address) {
                    group.addTask {
                        try await self.stayConnected(to: address)
                        // The pairing has ended. The machine may have been paired again meanwhile.
                        if self.end(address) { change.raise() }
                    }
                }
            }
        }
    }

    /// - Returns: false when somebody dials the address already.
    private func begin(_ address: PeerAddress) -> Bool {
        guard !exceptions.contains(address) else { return false }
        return dialled.withLock { dialled in
            let isNew = dialled[address] == nil
            dialled[address] = !isNew
            return isNew
        }
    }

    /// - Returns: whether the settings have changed since the beginning.
    private func end(_ address: PeerAddress) -> Bool {
        dialled.withLock { $0.removeValue(forKey: address) == true }
    }

    private func stayConnected(to address: PeerAddress) async throws {
        var connector = SyncConnector(engine, to: address, sessions: sessions)
        connector.deadlines = deadlines
        try await connector.stayConnected(.quietly)
    }

    /// The known addresses; none if they cannot be read now, and then `change` says when to try again.
    private func addresses(orLater change: Signal) async -> [PeerAddress] {
        do {
            let peers = try await engine.store.peers.all()
            return peers.compactMap { $0.address.flatMap(PeerAddress.init) }
        } catch {
            guard !Task.isCancelled else { return [] }
            engine.logger.warning("the addresses of paired machines cannot be read: \(error)")
            if (try? await Task.sleep(for: Self.retryPause)) != nil { change.raise() }
            return []
        }
    }
}
