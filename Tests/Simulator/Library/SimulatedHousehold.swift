import GRDB
import PeerSyncProtocol
import PeerSyncStore

/// What a simulated machine does for the household in a session.
struct SimulatedHousehold {
    private let replica: SimulatedReplica

    init(_ replica: SimulatedReplica) {
        self.replica = replica
    }

    /// Keeps a machine as a peer, and introduces it where the machines form a household.
    func keep(_ key: [UInt8], _ name: String) throws -> Peer {
        try replica.write { db in
            let kept = try replica.store.peers.add(db, key: key, name: name)
            if let introduction = replica.introduction(of: key, name: name) {
                try replica.store.household.add(db, introduction)
            }
            return kept
        }
    }

    /// What a machine is told that is no peer.
    func refusal(of key: [UInt8]) throws -> ProtocolError {
        try replica.read { Self.told(try replica.store.household.refusal($0, of: key)) }
    }

    /// Does what a session asks for.
    ///
    /// - Returns: the event to hand in, and how many machines became peers.
    func answer(_ action: Session.Action, with peer: Peer) throws -> (
        event: (inout Session) -> [Session.Action], introduced: Int
    ) {
        let household = replica.store.household
        switch action {
        case .readHousehold:
            let (share, _, digest) = try replica.read { try household.shared($0, with: peer) }
            return ({ $0.householdRead(share == .nothing ? nil : digest) }, 0)
        case .tellHousehold(let theirs):
            let (share, set, digest) = try replica.read { try household.shared($0, with: peer) }
            guard share != .nothing, digest != theirs else { break }
            let told = Message.HouseholdSet(set: set, port: 0, addresses: [])
            return ({ $0.householdTold(told) }, 0)
        case .takeHousehold(let told):
            let change = try replica.write {
                try household.take($0, told.set, from: peer, own: replica.key)
            }
            // A program hears of it as of any change of its settings.
            return ({ $0.settingsChanged() }, change.introduced.count)
        default: break
        }
        return ({ _ in [] }, 0)
    }

    /// What the other side is told when this one does not accept it.
    static func told(_ error: RecordStoreError) -> ProtocolError {
        ProtocolError(error.code == .removed ? .removed : .notPaired, error.message)
    }
}
