import Logging
import PeerSyncChannel
import PeerSyncStore
import Synchronization

/// Dials the paired machines where discovery finds them, where this one has reached them before, and where others say that
/// they are; also those that are paired or introduced while it runs. It says nothing when they are not there.
final class KnownPeers: Sendable {
    /// How many addresses are dialled at a time, of those that are announced, of those where this machine has reached others, and
    /// of those that others tell. Others can name any number of addresses where nobody is, and these must not hold up the rest.
    static let dialLimit = 16
    /// The pause after a failed attempt to read the addresses.
    private static let retryPause: Duration = .seconds(1)

    /// Somewhere to dial.
    private struct Target: Hashable {
        let address: PeerAddress
        let origin: Origin
    }

    /// Who says that somebody is there.
    private enum Origin: Hashable {
        /// Whoever announces this machine, which has to answer.
        case announced(Int64)
        /// This machine: it has reached one there. Any that is paired and not connected may answer: the network may have given
        /// them each other's addresses.
        case reached
        /// Others. The same machines may answer.
        case told
    }

    /// A target that should be dialled.
    private struct Wish {
        /// The machine that has to answer.
        var peer: Peer?
        /// The machines that are not connected and may be there.
        var peers: [Int64] = []
        /// The names of the announcements. A new one means that the machine has just come.
        var names: Set<String> = []
        /// Whether this machine has reached one of them there.
        var isReached = false
        /// Whether others have introduced one of them, which may not have heard of this one yet.
        var isIntroduced = false

        mutating func add(_ peer: Peer) {
            peers.append(peer.id)
            isReached = isReached || peer.address != nil
            isIntroduced = isIntroduced || peer.introducedBy != nil
        }
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
    private let reachedTurns = AsyncSemaphore(KnownPeers.dialLimit)
    private let toldTurns = AsyncSemaphore(KnownPeers.dialLimit)
    /// The paired machines when that was last looked at.
    private let paired = Mutex<[Peer]>([])
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
                            // Until the pairing has ended, or the machine has another address or connection.
                            try await connector.stayConnected(persistence) { self.isWanted(target) }
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
        paired.withLock { $0 = peers }
        var wishes: [Target: Wish] = [:]
        var remembered: [PeerAddress: Wish] = [:]
        for peer in peers {
            guard !engine.connections.hasAny(with: peer.id) else {
                probe(peer, Set(finder.announcements(of: peer.publicKey).map(\.name)))
                continue
            }
            var announced = Wish(peer: peer)
            announced.add(peer)
            for (address, name) in finder.places(of: peer.publicKey) {
                wishes[Target(address: address, origin: .announced(peer.id)), default: announced].names
                    .insert(name)
            }
            // What is announced in another machine's name says nothing of this one.
            for address in peer.dialled.compactMap({ PeerAddress($0) })
            where wishes[Target(address: address, origin: .announced(peer.id))] == nil {
                remembered[address, default: Wish()].add(peer)
            }
        }
        for (address, wish) in remembered {
            wishes[Target(address: address, origin: wish.isReached ? .reached : .told)] = wish
        }
        return wishes.filter { !exceptions.contains($0.key.address) }
    }

    /// The keys of the paired machines that are not connected.
    private var missing: [PublicKey] {
        paired.withLock { $0 }.filter { !engine.connections.hasAny(with: $0.id) }
            .compactMap { try? PublicKey($0.publicKey) }
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
                let connector = connector(to: target, wish.peer)
                dials[target] = Dial(connector: connector, names: wish.names, peers: wish.peers)
                return (target, connector, wish.isIntroduced ? .patiently : .quietly)
            }
        }
    }

    private func connector(to target: Target, _ peer: Peer?) -> SyncConnector {
        let turns =
            switch target.origin {
            case .announced: announcedTurns
            case .reached: reachedTurns
            case .told: toldTurns
            }
        if let peer {
            return SyncConnector(
                engine, to: target.address, expecting: peer, sessions: sessions, turns: turns)
        }
        return SyncConnector(
            engine, to: target.address, expectingOneOf: { [weak self] in self?.missing ?? [] },
            sessions: sessions, turns: turns)
    }

    /// - Returns: whether anything has changed since the beginning.
    private func end(_ target: Target) -> Bool {
        dials.withLock { $0.removeValue(forKey: target)?.hasChanged == true }
    }

    /// Whether a target was wanted when that was last looked at, and one of its machines is still not connected.
    private func isWanted(_ target: Target) -> Bool {
        dials.withLock { dials in
            guard let dial = dials[target], dial.isWanted else { return false }
            return dial.peers.contains { !engine.connections.hasAny(with: $0) }
        }
    }
}
