import Logging
import PeerSyncStore
import Synchronization

/// Dials the paired machines where discovery finds them, where this one has reached them before, and where others say that
/// they are; also those that are paired or introduced while it runs. It says nothing when they are not there.
final class KnownPeers: Sendable {
    /// How many addresses are dialled at a time, of those that are announced and of all others. Others can name any number
    /// of addresses where nobody is, and these must not hold up what is announced.
    static let dialLimit = 16
    /// The pause after a failed attempt to read the addresses.
    private static let retryPause: Duration = .seconds(1)

    /// Somewhere to dial.
    private struct Target: Hashable {
        let address: PeerAddress
        /// The machine that is announced there, and has to answer. At an address from before any paired machine may: the
        /// network may have given them each other's addresses.
        let announced: Int64?
    }

    /// A target that should be dialled.
    private struct Wish {
        var peer: Peer?
        /// The machines that may be there.
        var peers: [Int64] = []
        /// The names of the announcements. A new one means that the machine has just come.
        var names: Set<String> = []
        /// Whether others have introduced the machine, which may not have heard of this one yet.
        var isIntroduced = false
    }

    private struct Dial {
        let connector: SyncConnector
        var names: Set<String>
        var peers: [Int64]
        var isWanted = true
        /// Whether the machines to dial were computed anew since this dial began.
        var hasChanged = false
    }

    private let engine: SyncEngine
    private let sessions: SessionSet
    private let exceptions: Set<PeerAddress>
    private let finder: Finder
    private let announcedTurns = AsyncSemaphore(KnownPeers.dialLimit)
    private let otherTurns = AsyncSemaphore(KnownPeers.dialLimit)
    private let dials = Mutex<[Target: Dial]>([:])
    /// The announcements of machines that are connected.
    private let connectedNames = Mutex<[Int64: Set<String>]>([:])

    /// - Parameter exceptions: the addresses that somebody else dials.
    init(_ engine: SyncEngine, sessions: SessionSet, except exceptions: [PeerAddress]) {
        self.engine = engine
        self.sessions = sessions
        self.exceptions = Set(exceptions)
        finder = Finder(engine)
    }

    /// Dials until cancelled.
    func run() async throws {
        let change = Signal()
        let settings = engine.settings.observers.add { change.raise() }
        let connections = engine.connections.observers.add { change.raise() }
        let found = finder.observers.add { change.raise() }
        defer { withExtendedLifetime((settings, connections, found)) {} }
        change.raise()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.finder.run() }
            for await _ in change {
                do {
                    for (target, connector, persistence) in begin(try await wanted()) {
                        group.addTask {
                            try await self.stayConnected(connector, target, persistence)
                            // The machine may have been paired again, or may have left, meanwhile. Machines that refuse this one
                            // would otherwise start each other's next attempts without a pause.
                            guard self.end(target) else { return }
                            if (try? await Task.sleep(for: Self.retryPause)) != nil { change.raise() }
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

    /// Where the paired machines may be that are not connected, whoever has made the connection.
    private func wanted() async throws -> [Target: Wish] {
        let peers = try await engine.store.peers.all()
        var wishes: [Target: Wish] = [:]
        for peer in peers {
            let announcements = finder.announcements(of: peer.publicKey)
            guard !engine.connections.hasAny(with: peer.id) else {
                probe(peer, Set(announcements.map(\.name)))
                continue
            }
            var left = Finder.addressLimit
            for service in announcements {
                for address in service.addresses.prefix(left) {
                    wishes[
                        Target(address: address, announced: peer.id),
                        default: Wish(
                            peer: peer, peers: [peer.id], isIntroduced: peer.introducedBy != nil)
                    ]
                    .names.insert(service.name)
                    left -= 1
                }
            }
        }
        let announced = Set(wishes.keys.map(\.address))
        for (address, peers) in dialled(peers) where !announced.contains(address) {
            let isIntroduced = peers.contains { $0.introducedBy != nil }
            wishes[Target(address: address, announced: nil)] = Wish(
                peers: peers.map(\.id), isIntroduced: isIntroduced)
        }
        return wishes.filter { !exceptions.contains($0.key.address) }
    }

    /// The addresses of the machines that are not connected, where this one has reached them or others say that they are.
    private func dialled(_ peers: [Peer]) -> [PeerAddress: [Peer]] {
        var byAddress: [PeerAddress: [Peer]] = [:]
        for peer in peers {
            for address in peer.dialled.compactMap({ PeerAddress($0) }) {
                byAddress[address, default: []].append(peer)
            }
        }
        return byAddress.filter { $1.allSatisfy { !engine.connections.hasAny(with: $0.id) } }
    }

    /// Looks whether a connection still works when its machine announces itself anew, perhaps at another address.
    private func probe(_ peer: Peer, _ names: Set<String>) {
        let before = connectedNames.withLock { connected in
            defer { connected[peer.id] = names }
            return connected[peer.id]
        }
        if let before, !names.isSubset(of: before) { engine.connections.probeAll(of: peer.id) }
    }

    /// Notes what is wanted from now on.
    ///
    /// - Returns: what nobody dials yet.
    private func begin(
        _ wishes: [Target: Wish]
    ) -> [(Target, SyncConnector, Reconnection.Persistence)] {
        dials.withLock { dials in
            for (target, dial) in dials {
                let wish = wishes[target]
                dials[target]?.hasChanged = true
                dials[target]?.isWanted = wish != nil
                dials[target]?.names = wish?.names ?? []
                dials[target]?.peers = wish?.peers ?? []
                // It ends, or the machine has just come.
                if wish.map({ !$0.names.isSubset(of: dial.names) }) ?? true { dial.connector.hurry() }
            }
            return wishes.compactMap { target, wish in
                guard dials[target] == nil else { return nil }
                let connector = SyncConnector(
                    engine, to: target.address, expecting: wish.peer, sessions: sessions,
                    turns: target.announced == nil ? otherTurns : announcedTurns)
                dials[target] = Dial(connector: connector, names: wish.names, peers: wish.peers)
                return (target, connector, wish.isIntroduced ? .patiently : .quietly)
            }
        }
    }

    /// - Returns: whether anything has changed since the beginning.
    private func end(_ target: Target) -> Bool {
        dials.withLock { $0.removeValue(forKey: target)?.hasChanged == true }
    }

    /// Dials until the machine's pairing has ended, or it has another address or connection.
    private func stayConnected(
        _ connector: SyncConnector, _ target: Target, _ persistence: Reconnection.Persistence
    ) async throws {
        try await connector.stayConnected(persistence) { isWanted(target) }
    }

    /// Whether a target was wanted when that was last looked at, and nobody has connected to its machines since then.
    private func isWanted(_ target: Target) -> Bool {
        dials.withLock { dials in
            guard let dial = dials[target], dial.isWanted else { return false }
            return dial.peers.allSatisfy { !engine.connections.hasAny(with: $0) }
        }
    }
}
