import GRDB
import RecordStore
import SyncModel
import SyncProtocol

/// What two machines do after they have greeted each other: they agree on the zones of the session.
package struct ZoneAgreement {
    /// A zone that both take part in.
    package struct Entry: Sendable {
        package let zone: Zone
        /// What this machine may do in it at the other.
        package let rights: ZoneRights
        /// The token that the other side holds.
        package let heldByPeer: ChangeToken?
    }

    private let engine: SyncEngine
    private let peer: Peer
    private let isCaller: Bool
    private let own: [ZoneOffer]
    private let theirs: [ZoneOffer]
    private let held: Set<ZoneID>
    private let ask: @Sendable (ZoneQuestion) async throws -> ZoneAnswer

    /// - Parameters:
    ///   - own: what this side's hello offers.
    ///   - theirs: what the other side's does.
    ///   - held: all zones that this store has, also those that the other side is not to have.
    ///   - ask: asks the user, as long as the other side is there.
    package init(
        engine: SyncEngine, peer: Peer, isCaller: Bool, own: [ZoneOffer], theirs: [ZoneOffer],
        held: Set<ZoneID>, ask: @escaping @Sendable (ZoneQuestion) async throws -> ZoneAnswer
    ) {
        self.engine = engine
        self.peer = peer
        self.isCaller = isCaller
        self.own = own
        self.theirs = theirs
        self.held = held
        self.ask = ask
    }

    private var meeting: ZoneMeeting? {
        isCaller ? ZoneMeeting(caller: own, listener: theirs) : ZoneMeeting(caller: theirs, listener: own)
    }

    // MARK: The two sides

    /// The caller's side: chooses, tells, and does what was chosen once the other side has agreed.
    ///
    /// - Parameter wanted: what the user has chosen beforehand.
    package func call(
        _ wanted: ZoneUnion?, startsOver: Bool, outbox: Outbox, answer: () async throws -> Message
    ) async throws -> [Entry] {
        let union = try await choose(wanted)
        try checkTarget(union)
        var zones = try await entries(after: union)
        if startsOver || union == .replaceCaller {
            for index in zones.indices where startsOver || zones[index].id == meeting?.id(after: union) {
                zones[index].received = .start
            }
        }
        try outbox.send(.open(Message.Open(union: union, zones: zones)))
        guard case .open(let open) = try await answer() else { throw Self.unexpected }
        // Nothing is given up for what the other side does not give.
        guard open.union == union,
            union == .none || open.zones.contains(where: { $0.id == meeting?.id(after: union) })
        else { throw Self.unexpected }
        try await apply(union)
        return try await common(zones, open)
    }

    /// The listener's side: sees whether what the caller wants may be, and does it.
    package func answer(_ open: Message.Open, outbox: Outbox) async throws -> [Entry] {
        try await allow(open.union)
        try checkTarget(open.union)
        var zones = try await entries(after: open.union)
        if open.union == .replaceListener {
            for index in zones.indices where zones[index].id == meeting?.id(after: open.union) {
                zones[index].received = .start
            }
        }
        try await apply(open.union)
        try outbox.send(.open(Message.Open(union: open.union, zones: zones)))
        return try await common(zones, open)
    }

    private static var unexpected: ProtocolError {
        ProtocolError(.unexpectedMessage, "the other side did not say which zones it takes part in")
    }

    // MARK: Choosing

    private func choose(_ wanted: ZoneUnion?) async throws -> ZoneUnion {
        guard let meeting else {
            guard wanted == .replaceCaller || wanted == .replaceListener else { return .none }
            throw ProtocolError(
                .notPermitted,
                "the two machines do not share their scorebooks, so neither can replace the other")
        }
        if let wanted {
            // A flag that says what to do about different scorebooks has nothing to say when they are the same.
            if [.merge, .beside].contains(wanted), !meeting.isFirst { return .none }
            try checkRights(meeting, wanted)
            return wanted
        }
        if meeting.isPlain, let usual = meeting.usual {
            // Where one side only reads, there is nothing to bring together.
            return meeting.isPossible(usual) ? usual : .none
        }
        switch try await ask(question(meeting, proposal: nil)) {
        case .union(let union):
            try checkRights(meeting, union)
            return union
        case .cancel: throw ProtocolError(.declined, "the two scorebooks were left as they are")
        case .nobody:
            guard let usual = meeting.usual else { throw different(meeting) }
            try checkRights(meeting, usual)
            return usual
        }
    }

    private func allow(_ union: ZoneUnion) async throws {
        guard union != .none else { return }
        guard let meeting, meeting.isFirst || [.replaceCaller, .replaceListener].contains(union) else {
            throw ProtocolError(.unexpectedMessage, "the other side brings together what is one already")
        }
        try checkRights(meeting, union)
        let needsConsent =
            union == .replaceListener
            || (union == .merge && meeting.areBothShared && !meeting.isPlain)
        guard needsConsent else { return }
        switch try await ask(question(meeting, proposal: union)) {
        case .union(union): return
        case .nobody where union == .merge: throw different(meeting)
        case .nobody:
            throw ProtocolError(
                .declined,
                "nobody is at the machine that is to be replaced to allow it; run `scorebook-peer listen "
                    + "--allow-reset` there")
        default:
            throw ProtocolError(
                .declined, "the user of the other machine did not allow it; nothing was changed")
        }
    }

    /// Whoever is to get something has to take it.
    private func checkRights(_ meeting: ZoneMeeting, _ union: ZoneUnion) throws {
        guard !meeting.isPossible(union) else { return }
        throw ProtocolError(
            .notPermitted,
            "one of the two machines may only read at the other, so it cannot give it anything; "
                + "`scorebook-peer peers grant NAME ZONE write` changes that")
    }

    /// No store has one zone twice.
    private func checkTarget(_ union: ZoneUnion) throws {
        guard ![.none, .beside].contains(union), let target = meeting?.id(after: union),
            held.contains(target), target != own.first(where: \.isDefault)?.id
        else { return }
        throw ProtocolError(
            .notPermitted,
            "“\(target)” is beside the default zone of one of the two machines already, and not shared with the other"
        )
    }

    private func question(_ meeting: ZoneMeeting, proposal: ZoneUnion?) -> ZoneQuestion {
        ZoneQuestion(
            peer: peer.name, ours: .init(isCaller ? meeting.caller : meeting.listener),
            theirs: .init(isCaller ? meeting.listener : meeting.caller), proposal: proposal,
            isCaller: isCaller)
    }

    private func different(_ meeting: ZoneMeeting) -> ProtocolError {
        ProtocolError(
            .differentScorebook,
            "“\(meeting.caller.id)” and “\(meeting.listener.id)” are different scorebooks, and at least one is "
                + "shared with other machines already; `connect HOST --beside` keeps the other one beside this one, "
                + "`--merge` makes them one (with `listen --merge` there, if both are shared), and `--store DIR` uses "
                + "another store")
    }

    // MARK: Zones

    /// The zones that this side takes part in once the default zones are what `union` makes of them.
    private func entries(after union: ZoneUnion) async throws -> [Message.Open.Entry] {
        let (engine, peer) = (engine, peer)
        let mine = isCaller && union == .beside ? own.filter { !$0.isDefault } : own
        let target = meeting?.id(after: union)
        let replaced = meeting.map { isCaller ? $0.caller.id : $0.listener.id }
        var entries: [Message.Open.Entry] = []
        for offer in mine {
            let received = try await engine.store.database.read { db -> ChangeToken? in
                guard let zone = try engine.store.zone(db, offer.id) else { return nil }
                return try engine.ledger(zone, peer).summary(db).received
            }
            let isReplaced = union != .none && offer.id == replaced
            entries.append(.init(id: isReplaced ? target ?? offer.id : offer.id, received: received))
        }
        for offer in unknown(after: union) { entries.append(.init(id: offer.id, received: nil)) }
        return entries
    }

    /// The zones that the other side offers and this one is to take up.
    private func unknown(after union: ZoneUnion) -> [ZoneOffer] {
        let room = max(0, RecordStore.maximumZones - held.count)
        return theirs.filter { offer in
            guard !held.contains(offer.id) else { return false }
            // Whose default zone it is was decided; and not both of two that were brought together.
            return !offer.isDefault || (isCaller && union == .beside)
        }.prefix(room).map(\.self)
    }

    private func apply(_ union: ZoneUnion) async throws {
        let (engine, peer, own, meeting) = (engine, peer, own, meeting)
        let takesUp = unknown(after: union)
        let isReplaced = union == (isCaller ? .replaceCaller : .replaceListener)
        let backup = isReplaced ? try await engine.backUp() : nil
        let isCaller = isCaller
        let changed = ProtocolError(.zonesChanged, "what the two machines share has changed")
        let takenUp = try await engine.store.database.write { db in
            if let backup {
                // What was written since the backup would be in none.
                guard try engine.store.moment(db) == backup.moment else { throw changed }
            }
            let takenUp = try takesUp.map { offer in
                // Another session may have brought it meanwhile, with other rights.
                guard try engine.store.zone(db, offer.id) == nil else { throw changed }
                return try engine.store.takeUpZone(db, offer.id, called: offer.name, from: peer)
            }
            let ours = own.first(where: \.isDefault)
            guard union != .none, let ours, let target = meeting?.id(after: union) else { return takenUp }
            // Another session may have brought it together with a third machine's meanwhile.
            guard let zone = try engine.store.zone(db, ours.id), zone.isDefault,
                zone.isShared == ours.isShared
            else { throw changed }
            if isReplaced { try engine.store.erase(db, zone) }
            if union == .beside {
                if isCaller { try engine.store.setRights(db, .none, to: peer, in: zone) }
            } else if target != ours.id {
                guard try engine.store.zone(db, target) == nil else { throw changed }
                try engine.store.adopt(db, target)
            }
            return takenUp
        }
        for zone in takenUp { engine.onEvent(.zoneTakenUp(name: peer.name, zone: zone.name)) }
        if let backup { engine.onEvent(.replaced(name: peer.name, backup: backup.url)) }
    }

    private func common(_ zones: [Message.Open.Entry], _ open: Message.Open) async throws -> [Entry] {
        let tokens = Dictionary(open.zones.map { ($0.id, $0.received) }) { first, _ in first }
        let ids = Set(zones.map(\.id)).intersection(tokens.keys).sorted()
        guard !ids.isEmpty else {
            throw ProtocolError(
                .noCommonZone,
                "the two machines share no zone; `scorebook-peer peers grant NAME ZONE write` shares one")
        }
        let rights = Dictionary(theirs.map { ($0.id, $0.rights) }) { first, _ in first }
        let fallback = theirs.first(where: \.isDefault)?.rights ?? .none
        let store = engine.store
        return try await store.database.read { db in
            try ids.map { id in
                guard let zone = try store.zone(db, id) else {
                    throw ProtocolError(.zonesChanged, "what the two machines share has changed")
                }
                return Entry(zone: zone, rights: rights[id] ?? fallback, heldByPeer: tokens[id] ?? nil)
            }
        }
    }
}
