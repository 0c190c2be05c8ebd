import Logging
import PeerSyncStore
import Synchronization

/// Dials the paired machines at the addresses where this one has reached them before, also those that are paired while
/// it runs. It says nothing when they are not there.
final class KnownPeers: Sendable {
    /// The pause after a failed attempt to read the addresses.
    private static let retryPause: Duration = .seconds(1)

    private let engine: SyncEngine
    private let sessions: SessionSet
    private let exceptions: Set<PeerAddress>
    /// The addresses that this dials, and for each whether anything has changed since it began.
    private let dialled = Mutex<[PeerAddress: Bool]>([:])

    /// - Parameter exceptions: the addresses that somebody else dials.
    init(_ engine: SyncEngine, sessions: SessionSet, except exceptions: [PeerAddress]) {
        self.engine = engine
        self.sessions = sessions
        self.exceptions = Set(exceptions)
    }

    /// Dials until cancelled.
    func run() async throws {
        let change = Signal()
        let settings = engine.settings.observers.add { change.raise() }
        let connections = engine.connections.observers.add { change.raise() }
        defer { withExtendedLifetime((settings, connections)) {} }
        change.raise()
        try await withThrowingDiscardingTaskGroup { group in
            for await _ in change {
                do {
                    for address in try await wanted() where begin(address) {
                        group.addTask {
                            try await self.stayConnected(to: address)
                            // The machine may have been paired again, or may have left, meanwhile.
                            if self.end(address) { change.raise() }
                        }
                    }
                } catch {
                    guard !Task.isCancelled else { return }
                    engine.logger.warning("the addresses of paired machines cannot be read: \(error)")
                    if (try? await Task.sleep(for: Self.retryPause)) != nil { change.raise() }
                }
            }
        }
    }

    /// The addresses of the paired machines that are not connected, whoever has made the connection.
    private func wanted() async throws -> Set<PeerAddress> {
        let peers = Dictionary(grouping: try await engine.store.peers.all(), by: \.address)
        let addresses = peers.filter { $1.allSatisfy { !engine.connections.hasAny(with: $0.id) } }.keys
        return Set(addresses.compactMap { $0.flatMap { PeerAddress($0) } }).subtracting(exceptions)
    }

    /// - Returns: false when this dials the address already.
    private func begin(_ address: PeerAddress) -> Bool {
        dialled.withLock { dialled in
            let isNew = dialled[address] == nil
            dialled[address] = !isNew
            return isNew
        }
    }

    /// - Returns: whether anything has changed since the beginning.
    private func end(_ address: PeerAddress) -> Bool {
        dialled.withLock { $0.removeValue(forKey: address) == true }
    }

    /// Dials until the machine's pairing has ended, or it has another address or connection.
    private func stayConnected(to address: PeerAddress) async throws {
        let connector = SyncConnector(engine, to: address, sessions: sessions)
        // If the store cannot be read, the attempt itself finds that out.
        try await connector.stayConnected(.quietly) { (try? await wanted().contains(address)) ?? true }
    }
}
