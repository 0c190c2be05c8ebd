import Foundation
import GRDB
import PeerSyncModel

/// The machines that accept each other, whichever of them were paired: ``RecordStore/household``.
///
/// Protocol/ "The household" says who is told, and what follows.
public struct StoreHousehold: Sendable {
    let store: RecordStore

    // MARK: Asking

    /// The members, by name.
    public func members() async throws -> [HouseholdMember] {
        try await store.database.read { try members($0) }
    }

    /// The members, by name.
    public func members(_ db: Database) throws -> [HouseholdMember] {
        let set = try load(db)
        return try set.members.map { introduction in
            let peer = try PeerTable.find(db, key: introduction.key)
            let first = set.first(of: introduction.key) ?? introduction
            return HouseholdMember(
                name: peer?.name ?? introduction.name, publicKey: introduction.key,
                introducedBy: first.introducer,
                introducer: try name(db, of: first.introducer, in: set)
                    ?? String(first.introducer.hexadecimal.prefix(16)),
                introducedAt: ISO8601.text(milliseconds: first.time, fraction: .ifNeeded),
                mayOnlyRead: introduction.rights == .read,
                relation: ReplicaID(hashing: introduction.key) == store.replica
                    ? .own : peer == nil ? .forgotten : .peer)
        }.sorted { $0.name < $1.name }
    }

    /// The paired machines that may write here and are in no household yet, by name: nobody has introduced them to the other
    /// machines. Those with which this one only shares a zone beside the default one are none.
    public func candidates(_ db: Database) throws -> [Peer] {
        let members = Set(try load(db).members.map(\.key))
        return try PeerTable.all(db).filter {
            try !members.contains($0.publicKey) && rights(db, of: $0) == .write
                && !Zones.areOthersShared(db, with: $0.id)
        }
    }

    /// What the machine with a static key is called here; the beginning of its key if nobody here knows it.
    public func name(_ db: Database, of key: [UInt8]) throws -> String {
        try name(db, of: key, in: load(db)) ?? String(key.hexadecimal.prefix(16))
    }

    private func name(_ db: Database, of key: [UInt8], in set: Household) throws -> String? {
        try PeerTable.find(db, key: key)?.name ?? set.name(of: key)
    }

    /// The error for a machine that is no peer: `removed` with who removed it, or `noSuchPeer`. The other side reads it, too.
    package func refusal(_ db: Database, of key: [UInt8]) throws -> RecordStoreError {
        let set = try load(db)
        guard case .removed(let removal) = set.standing(of: key), try !PeerTable.isForgotten(db, key: key)
        else { return RecordStoreError(.noSuchPeer, "the two machines are not paired") }
        // Names from the set, which the removed machine knows as well.
        let by = set.name(of: removal.remover).map { " by \($0)" } ?? ""
        return RecordStoreError(
            .removed, "\(set.name(of: key) ?? "the machine") was removed from the household\(by)")
    }

    private func rights(_ db: Database, of peer: Peer) throws -> ZoneRights {
        try Zones.rights(db, peer: peer.id, zone: Zones.defaultID)
    }

    // MARK: Changing

    /// Adds the introduction that follows from a pairing. Part of the open transaction, which has made the machine a peer.
    ///
    /// - Throws: `householdFull`.
    package func add(_ db: Database, _ introduction: Introduction) throws { try add(db, [introduction]) }

    private func add(_ db: Database, _ introductions: [Introduction]) throws {
        let former = try load(db)
        var set = former
        guard introductions.allSatisfy({ set.introduce($0) }) else {
            throw RecordStoreError(
                .householdFull,
                "the household has \(Household.maximumCount) introductions, removed ones included, and takes no more"
            )
        }
        try HouseholdTable.save(db, set, over: former)
    }

    /// Introduces paired machines to each other, and to those that this machine pairs with later.
    ///
    /// - Parameters:
    ///   - names: of ``candidates(_:)``; nil for all of them.
    ///   - own: the static key of this machine.
    /// - Throws: `noSuchPeer`, `ambiguous`, `householdFull`.
    /// - Returns: the machines that were introduced; not those that are members already, or may not write here.
    public func introduce(_ names: [String]? = nil, by own: [UInt8]) async throws -> [Peer] {
        try await store.database.write { try introduce($0, names, by: own) }
    }

    /// Introduces the machine whose code this one has typed, once, also if an introduction is in force: somebody else may have
    /// removed that one. It does nothing for a machine that may not write here, or that was given a zone only.
    ///
    /// - Parameter sharesDefault: whether the two share the default zone.
    package func introduceIfDue(_ peer: Peer, sharesDefault: Bool, by own: [UInt8]) async throws {
        guard try await store.database.read({ try HouseholdTable.isDue(peer.id, $0) }) else { return }
        do {
            try await introduceWhereDue(peer, sharesDefault: sharesDefault, by: own)
        } catch let error as RecordStoreError where error.code == .householdFull {
            // The two sync all the same, and the user hears that nobody has introduced the peer.
            try await store.database.write { try HouseholdTable.setDue(peer.id, false, $0) }
        }
    }

    private func introduceWhereDue(_ peer: Peer, sharesDefault: Bool, by own: [UInt8]) async throws {
        try await store.database.write { db in
            guard try HouseholdTable.isDue(peer.id, db) else { return }
            try HouseholdTable.setDue(peer.id, false, db)
            guard sharesDefault, try rights(db, of: peer) == .write,
                let introduction = Introduction(
                    of: peer.publicKey, name: peer.name, rights: .all, by: own, time: store.now())
            else { return }
            try add(db, introduction)
        }
    }

    /// Introduces paired machines in the open transaction.
    package func introduce(_ db: Database, _ names: [String]?, by own: [UInt8]) throws -> [Peer] {
        let wanted = try names.map { names in
            Set(try PeerTable.all(db).find(names, among: PeerTable.kind).map(\.id))
        }
        let peers = try candidates(db).filter { wanted?.contains($0.id) ?? true }
        guard !peers.isEmpty else { return [] }
        try add(
            db,
            peers.compactMap {
                Introduction(of: $0.publicKey, name: $0.name, rights: .all, by: own, time: store.now())
            })
        return peers
    }

    /// Finds a member by its name, or by the beginning of its key.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`.
    public func member(_ nameOrKey: String) async throws -> HouseholdMember {
        try await store.database.read { try member($0, nameOrKey) }
    }

    private func member(_ db: Database, _ text: String) throws -> HouseholdMember {
        try members(db).filter { $0.relation != .own }.find(text, among: "other machine of the household")
    }

    /// Removes a machine from the household, for good: every machine refuses it as soon as it hears of it. Records stay.
    ///
    /// - Parameters:
    ///   - nameOrKey: what it is called here, or the beginning of its key.
    ///   - own: the static key of this machine.
    /// - Throws: `noSuchPeer`, `ambiguous`.
    public func remove(_ nameOrKey: String, by own: [UInt8]) async throws -> HouseholdMember {
        try await store.database.write { try remove($0, nameOrKey, by: own) }
    }

    /// Removes a machine from the household in the open transaction.
    package func remove(_ db: Database, _ nameOrKey: String, by own: [UInt8]) throws -> HouseholdMember {
        let member = try member(db, nameOrKey)
        let former = try load(db)
        var set = former
        if let removal = HouseholdEntry.Removal(by: own, time: max(0, store.now())) {
            set.remove(member.publicKey, removal)
        }
        try HouseholdTable.save(db, set, over: former)
        if let peer = try PeerTable.find(db, key: member.publicKey) {
            try PeerTable.remove(db, peer, removedBy: own)
        }
        return member
    }

    // MARK: For sessions

    /// All that this machine knows of the household.
    package func set(_ db: Database) throws -> Household { try load(db) }

    /// The set with its digest, and what this machine and a peer tell each other of it.
    package func shared(with peer: Peer) async throws -> (
        share: HouseholdShare, set: Household, digest: [UInt8]
    ) {
        try await store.database.read { try shared($0, with: peer) }
    }

    /// The set with its digest, and what this machine and a peer tell each other of it.
    package func shared(_ db: Database, with peer: Peer) throws -> (
        share: HouseholdShare, set: Household, digest: [UInt8]
    ) {
        let (set, digest) = try store.knownHousehold.setWithDigest(db)
        return (try share(db, with: peer, set), set, digest)
    }

    private func load(_ db: Database) throws -> Household { try store.knownHousehold.set(db) }

    private func share(_ db: Database, with peer: Peer, _ set: Household) throws -> HouseholdShare {
        guard case .member = set.standing(of: peer.publicKey), try PeerTable.isPresent(db, peer.id) else {
            return .nothing
        }
        return switch try rights(db, of: peer) {
        case .none: .nothing
        case .read: .tells
        case .write: .all
        }
    }

    /// Takes in the set of a peer, and does what follows from it. Nothing happens if the peer is not heard.
    ///
    /// - Parameter own: the static key of this machine, which never becomes its own peer.
    package func take(_ set: Household, from peer: Peer, own: [UInt8]) async throws -> HouseholdChange {
        try await store.database.write { [self] db in try take(db, set, from: peer, own: own) }
    }

    /// Takes in the set of a peer in the open transaction.
    package func take(_ db: Database, _ theirs: Household, from peer: Peer, own: [UInt8]) throws
        -> HouseholdChange
    {
        let former = try load(db)
        guard try share(db, with: peer, former) == .all else { return HouseholdChange() }
        var set = former
        set.merge(theirs)
        guard set != former else { return HouseholdChange() }
        try HouseholdTable.save(db, set, over: former)
        var change = HouseholdChange()
        for key in set.removedKeys.subtracting(former.removedKeys) {
            guard case .removed(let removal) = set.standing(of: key),
                let peer = try PeerTable.find(db, key: key)
            else { continue }
            let by = try name(db, of: removal.remover, in: set)
            try PeerTable.remove(db, peer, removedBy: removal.remover)
            change.removed.append(HouseholdChange.Machine(name: peer.name, by: by))
        }
        let paired = Set(try Data.fetchAll(db, sql: "SELECT publicKey FROM grdb_sync_peer"))
        for introduction in set.members
        where introduction.key != own && !paired.contains(Data(introduction.key)) {
            let introducer = (set.first(of: introduction.key) ?? introduction).introducer
            let peer = try PeerTable.introduce(
                db, introduction, besides: set.first(of: own)?.name, by: introducer, now: store.now())
            guard let peer else { continue }
            if introduction.rights == .read {
                try Zones.setRights(db, peer: peer.id, zone: Zones.defaultID, .read)
            }
            let by = try name(db, of: introducer, in: set)
            change.introduced.append(HouseholdChange.Machine(name: peer.name, by: by))
        }
        return change
    }

    // MARK: Addresses

    /// The last known addresses of the members but one, for that one.
    package func addresses(for receiver: Peer) async throws -> [(key: [UInt8], address: String)] {
        try await store.database.read { db in
            let members = Set(try load(db).members.map(\.key))
            return try PeerTable.all(db).filter { $0.id != receiver.id && members.contains($0.publicKey) }
                .flatMap { peer in
                    let known = (peer.address.map { [$0] } ?? []) + peer.hints.filter { $0 != peer.address }
                    return known.prefix(PeerHints.limit).map { (peer.publicKey, $0) }
                }
        }
    }

    /// Notes where members may be, as a peer says that is heard. This machine tries these addresses until it has reached
    /// the member itself.
    package func noteAddresses(_ addresses: [(key: [UInt8], address: String)], from peer: Peer) async throws {
        guard !addresses.isEmpty else { return }
        try await store.database.write { [self] db in
            let set = try load(db)
            guard try share(db, with: peer, set) == .all else { return }
            var isNew = false
            for (key, list) in Dictionary(grouping: addresses, by: \.key) {
                guard case .member = set.standing(of: key), let peer = try PeerTable.find(db, key: key),
                    peer.address == nil
                else { continue }
                for entry in list.prefix(PeerHints.limit).reversed() {
                    if try PeerHints.add(db, entry.address, of: peer.id) { isNew = true }
                }
            }
            if isNew { try SyncSettings.noteChanged(db) }
        }
    }
}
