import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// What a session does for the household: tells the set, and takes it in.
extension PeerSession {
    /// Reads what this machine tells the peer of the household.
    func readHousehold() async throws -> Actions {
        let peer = try peer
        let (share, _, digest) = try await engine.store.household.shared(with: peer)
        if share == .nothing {
            try await noteOutside(peer)
            return []
        }
        return take { $0.householdRead(digest) }
    }

    /// Tells the user once that a machine which may write here is in no household with this one.
    private func noteOutside(_ peer: Peer) async throws {
        let isCandidate = try await engine.store.database.read { [store = engine.store] db in
            try store.household.candidates(db).contains { $0.id == peer.id }
        }
        guard isCandidate, engine.outsiders.withLock({ $0.insert(peer.id).inserted }) else { return }
        engine.onEvent(.notIntroduced(name: peer.name))
    }

    func tellHousehold(unless theirs: [UInt8]?) async throws -> Actions {
        let peer = try peer
        let (share, set, digest) = try await engine.store.household.shared(with: peer)
        guard share != .nothing, digest != theirs else { return [] }
        let known = try await engine.store.household.addresses(for: peer)
        let told = Message.HouseholdSet(
            set: set, port: engine.listeningPort ?? 0,
            addresses: MemberAddresses.told(known, over: address))
        parts.withLock { $0.sentHousehold = digest }
        return take { $0.householdTold(told) }
    }

    func takeHousehold(_ told: Message.HouseholdSet) async throws -> Actions {
        let peer = try peer
        let household = engine.store.household
        let change = try await household.take(told.set, from: peer, own: engine.identity.publicKey.bytes)
        // The peer has answered a digest that was news, and lacks what this machine has. A side that takes nothing answers
        // nothing, and nobody tells the same twice: otherwise two sides whose sets never become equal would go on for ever.
        let (share, _, digest) = try await household.shared(with: peer)
        let isNews = share == .all && parts.withLock { $0.sentHousehold } != digest
        let answer = isNews ? try await tellHousehold(unless: told.set.digest) : []
        try await household.noteAddresses(
            MemberAddresses.heard(told, from: peer.publicKey, at: address, isCaller: purpose.call == nil),
            from: peer)
        for machine in change.introduced { engine.onEvent(.introduced(name: machine.name, by: machine.by)) }
        for machine in change.removed { engine.onEvent(.removed(name: machine.name, by: machine.by)) }
        return answer
    }
}
