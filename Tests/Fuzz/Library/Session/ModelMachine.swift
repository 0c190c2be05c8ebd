import AssetModel
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// One machine in memory: whom it is paired with, its zones and files, and what its user says. It outlives its sessions.
struct ModelMachine {
    struct Zone {
        var id: ZoneID
        var isDefault = false
        var isShared = false
        /// What the other machine may do in it.
        var rights = ZoneRights.write
        var store: ModelStore
    }

    /// The code that is shown, if one is.
    static let code = try! PairingCode("042-917")
    static let zoneNames = ["ScorebookData", "club"].map { ZoneName($0)! }

    let number: UInt8
    private(set) var zones: [Zone]
    var isPaired = true
    var showsCode = true
    /// What the user says to any question; nil for somebody who agrees.
    var answer: ZoneAnswer?
    /// How often this machine has given up what it had, which ends its sessions.
    var erasures: Int64 = 0
    var files = ModelAssets()
    /// What it knows of the household; nil for a machine that shares it with nobody.
    var household: Household?
    /// How long the files are that somebody wants here.
    var wantedFiles: [AssetHash: Int64] = [:]

    init(number: UInt8, hasClub: Bool) {
        self.number = number
        let replica = ReplicaID(rawValue: UInt64(number))
        household = Household(
            [
                Introduction(
                    nonce: [UInt8](repeating: number, count: 16), key: [UInt8](repeating: 200, count: 32),
                    name: "cellar", rights: .all, introducer: Self.key(number).bytes, time: Int64(number))
            ].compactMap { $0.map { HouseholdEntry($0) } })
        zones = (hasClub ? Self.zoneNames : [Self.zoneNames[0]]).enumerated().map { index, name in
            Zone(
                id: ZoneID(name: name, owner: replica), isDefault: index == 0,
                store: ModelStore(number: number))
        }
    }

    static func key(_ number: UInt8) -> PublicKey { try! PublicKey([UInt8](repeating: number, count: 32)) }

    // MARK: Reading

    var offers: [ZoneOffer] {
        zones.filter { $0.rights != .none }.map { zone in
            let digest = zone.store.summary.digest
            return ZoneOffer(
                id: zone.id, name: zone.id.name.description, isDefault: zone.isDefault,
                isShared: zone.isShared, rights: zone.rights, recordCount: digest.count,
                fingerprint: digest.fingerprint)
        }
    }

    var grants: SessionGrants {
        SessionGrants(zones: zones.map(\.id), rights: zones.map(\.rights), erasures: erasures)
    }

    func store(_ id: ZoneID) -> ModelStore? { zones.first { $0.id == id }?.store }

    func tokens(_ ids: [ZoneID]) -> [ZoneID: ChangeToken] {
        ids.reduce(into: [:]) { tokens, id in tokens[id] = store(id)?.received }
    }

    func answer(to question: ZoneQuestion) -> ZoneAnswer { answer ?? .union(question.proposal ?? .merge) }

    // MARK: Writing

    /// Changes the store of a zone, if there is that zone.
    @discardableResult
    mutating func change<Value>(_ id: ZoneID, _ body: (inout ModelStore) -> Value) -> Value? {
        guard let index = zones.firstIndex(where: { $0.id == id }) else { return nil }
        return body(&zones[index].store)
    }

    mutating func noteBegun(_ id: ZoneID, at token: ChangeToken?) {
        guard let index = zones.firstIndex(where: { $0.id == id }) else { return }
        zones[index].isShared = true
        zones[index].store.noteBegun(at: token)
    }

    /// Does what the two have agreed on.
    mutating func share(_ plan: ZonePlan) throws {
        for zone in plan.takenUp {
            try expect(store(zone.id) == nil, "\(zone.id) is taken up a second time")
            zones.append(Zone(id: zone.id, isShared: true, store: ModelStore(number: number)))
        }
        guard let own = plan.defaultZone else { return }
        guard let index = zones.firstIndex(where: { $0.id == own.id && $0.isDefault }) else {
            throw BrokenInvariant(description: "\(own.id) is not the default zone")
        }
        switch own.change {
        case .keep: return
        case .withhold: zones[index].rights = .none
        case .become(let id): try become(id, index)
        case .replace(let id):
            zones[index].store.giveUp()
            try become(id, index)
        }
    }

    private mutating func become(_ id: ZoneID, _ index: Int) throws {
        try expect(zones[index].id == id || store(id) == nil, "\(id) would be here twice")
        zones[index].id = id
    }
}
