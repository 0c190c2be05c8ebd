import PeerSyncChannel
import PeerSyncStore

/// A machine of the app that announces itself on this network. Nobody has proved that it is what it says.
public struct FoundMachine: Sendable, Hashable, Identifiable {
    /// The name of the paired machine that it announces itself as; nil for every other one.
    public let peer: String?
    /// Where it listens, the best first.
    public let addresses: [PeerAddress]
    /// Whether it shows a pairing code.
    public let showsCode: Bool

    /// Where it listens; ``SyncEngine/machines(within:)`` gives no two with the same addresses.
    public var id: [PeerAddress] { addresses }

    /// Makes a machine for previews and tests of an app; see the properties.
    public init(peer: String? = nil, addresses: [PeerAddress], showsCode: Bool = false) {
        self.peer = peer
        self.addresses = addresses
        self.showsCode = showsCode
    }

    /// One of those with the same addresses, which says the most: a machine that renews its announcement has two for a moment, and
    /// anybody can announce the addresses of another one.
    static func distinct(_ machines: [FoundMachine]) -> [FoundMachine] {
        machines.reduce(into: []) { distinct, machine in
            guard let index = distinct.firstIndex(where: { $0.id == machine.id }) else {
                return distinct.append(machine)
            }
            if distinct[index].weight < machine.weight { distinct[index] = machine }
        }
    }

    private var weight: Int { (peer == nil ? 0 : 2) + (showsCode ? 1 : 0) }
}

extension SyncEngine {
    /// Looks for the machines of the app on this network, for a time.
    ///
    /// - Parameter time: machines that are there mostly answer within a second.
    /// - Throws: ``PeerSyncError``: `noDiscovery`; `interrupted` when the service shuts down. `CancellationError` when the task is
    ///   cancelled; errors of SQLite.
    public func machines(within time: Duration = .seconds(2)) async throws -> [FoundMachine] {
        guard discovery.discovery != nil else {
            throw PeerSyncError(.noDiscovery, "looking for machines on this network is switched off")
        }
        let finder = Finder(self, tellsTrouble: false)
        try await tellingCancellation {
            try await withFinder(finder) { try await finder.wait(for: time, until: \.hasFailed) }
        }
        guard finder.works else {
            throw PeerSyncError(.noDiscovery, "machines on this network cannot be found at this moment")
        }
        let peers = try await store.peers.all()
        let machines = finder.found.map { found in
            let peer = peers.first { peer in
                (try? PublicKey(peer.publicKey)).map { found.announcement.names($0) } ?? false
            }
            return FoundMachine(
                peer: peer?.name, addresses: found.service.addresses, showsCode: found.announcement.showsCode)
        }
        return FoundMachine.distinct(machines)
    }

    /// Runs `body` while a finder looks.
    func withFinder<Value: Sendable>(
        _ finder: Finder, _ body: @escaping @Sendable () async throws -> Value
    ) async rethrows -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await finder.run() }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}
