import PeerSyncModel

/// The agreement of two machines, after their greeting, on the zones of their session: a state machine without I/O.
///
/// The caller chooses the union of two different default zones, asks its user if necessary, and sends its *open*. The
/// listener checks whether it allows the union, asks its own user if necessary, changes its store and sends its own
/// *open*. Then the caller changes its store.
package struct ZoneAgreement: Sendable {
    /// A zone that both sides take part in.
    package struct Entry: Sendable, Hashable {
        package let id: ZoneID
        /// The rights of this side in the zone at the other side.
        package let rights: ZoneRights
        /// This side's token that the other side holds.
        package let heldByPeer: ChangeToken?
    }

    /// The session's next step.
    package enum Step: Sendable {
        /// Ask the user, while the other side is there. Then ``decided(_:)``.
        case ask(ZoneQuestion)
        /// Read the other side's tokens that this store holds in these zones. Then ``tokensRead(_:)``.
        case readTokens([ZoneID])
        /// Make the agreed changes in the store. Then ``shared()``.
        case share(ZonePlan)
        case send(Message)
        /// The zones of the session, in the order of their numbers.
        case agreed([Entry])
    }

    private enum State: Sendable {
        /// The caller has chosen nothing yet. The listener waits for the caller's *open*.
        case undecided
        /// The caller's user chooses.
        case choosing(ZoneMeeting)
        /// The listener's user decides whether to allow the caller's choice.
        case allowing(Message.Open, ZoneMeeting)
        /// The agreement waits for the store. The listener has the caller's *open*.
        case readingTokens(ZoneUnion, theirs: Message.Open?)
        /// The caller has sent its *open*.
        case awaitingOpen(ZoneUnion, own: [Message.Open.Entry])
        /// The store makes the agreed changes.
        case sharing(own: Message.Open, theirs: Message.Open)
        case agreed
    }

    private let situation: Situation
    /// The default zones of the two; nil when one side does not offer its own.
    private let meeting: ZoneMeeting?
    private let startsOver: Bool
    private let sparesOneZone: Bool
    private var state = State.undecided

    /// - Parameters:
    ///   - startsOver: whether the caller forgets the records that the other side has.
    ///   - sparesOneZone: whether two default zones that are one already stay as they are, whatever union the caller wants.
    package init(_ situation: Situation, startsOver: Bool = false, sparesOneZone: Bool = false) {
        self.situation = situation
        self.startsOver = startsOver
        self.sparesOneZone = sparesOneZone
        let (own, theirs) = (situation.own, situation.theirs)
        meeting =
            situation.isCaller
            ? ZoneMeeting(caller: own, listener: theirs) : ZoneMeeting(caller: theirs, listener: own)
    }

    /// Whether a person is being asked.
    package var isAsking: Bool {
        switch state {
        case .choosing, .allowing: true
        case .undecided, .readingTokens, .awaitingOpen, .sharing, .agreed: false
        }
    }

    /// The zones for which the other side gives up what it has in them, and its clock, as long as this side can still refuse.
    package var given: (zones: [ZoneID], clock: Int64) {
        guard case .readingTokens(let union, let theirs) = state else { return ([], situation.clock) }
        let replacing: [ZoneID] = union == .replaceListener ? [meeting?.caller.id].compactMap(\.self) : []
        let begunAnew = theirs?.zones.filter { $0.received == .start }.map(\.id)
        return (begunAnew ?? replacing, situation.clock)
    }

    /// Whether the caller changes its store. It is the last step: both sides have sent their *open*.
    package var isCallerSharing: Bool { if case .sharing = state { situation.isCaller } else { false } }

    // MARK: Events

    /// Begins the agreement at the caller.
    ///
    /// - Parameter wanted: the union that the user has chosen beforehand.
    package mutating func call(_ wanted: ZoneUnion?) throws(ProtocolError) -> [Step] {
        guard let union = try chosen(wanted) else {
            guard let meeting else { return [] }
            state = .choosing(meeting)
            return [.ask(question(meeting, proposal: nil))]
        }
        return try readTokens(union, nil)
    }

    /// Handles the user's answer.
    package mutating func decided(_ answer: ZoneAnswer) throws(ProtocolError) -> [Step] {
        switch state {
        case .choosing(let meeting): return try readTokens(try Self.chosen(answer, meeting), nil)
        case .allowing(let open, let meeting):
            try Self.check(answer, allows: open.union, meeting)
            return try readTokens(open.union, open)
        case .undecided, .readingTokens, .awaitingOpen, .sharing, .agreed: return []
        }
    }

    /// Handles the other side's *open*.
    package mutating func received(_ open: Message.Open) throws(ProtocolError) -> [Step] {
        switch state {
        case .undecided where !situation.isCaller:
            if try needsConsent(open.union), let meeting {
                state = .allowing(open, meeting)
                return [.ask(question(meeting, proposal: open.union))]
            }
            return try readTokens(open.union, open)
        case .awaitingOpen(let union, let own):
            try confirm(union, open)
            return share(own: Message.Open(union: union, zones: own), theirs: open)
        case .undecided, .choosing, .allowing, .readingTokens, .sharing, .agreed: throw Self.unexpected
        }
    }

    /// Handles the other side's tokens from the store.
    package mutating func tokensRead(_ tokens: [ZoneID: ChangeToken]) -> [Step] {
        guard case .readingTokens(let union, let theirs) = state else { return [] }
        var own = entries(after: union, tokens)
        let replacesOwn = union == (situation.isCaller ? ZoneUnion.replaceCaller : .replaceListener)
        for index in own.indices
        where startsOver || (replacesOwn && own[index].id == meeting?.id(after: union)) {
            own[index].received = .start
        }
        let open = Message.Open(union: union, zones: own)
        guard let theirs else {
            state = .awaitingOpen(union, own: own)
            return [.send(.open(open))]
        }
        return share(own: open, theirs: theirs)
    }

    /// Notes that the store has made the agreed changes.
    package mutating func shared() -> [Step] {
        guard case .sharing(let own, let theirs) = state else { return [] }
        state = .agreed
        let answer: [Step] = situation.isCaller ? [] : [.send(.open(own))]
        return answer + [.agreed(common(own.zones, theirs.zones))]
    }

    /// Checks the listener's answer for the caller, which gives nothing up for a zone that the other side does not
    /// give.
    package func confirm(_ union: ZoneUnion, _ open: Message.Open) throws(ProtocolError) {
        guard open.union == union,
            union == .none || open.zones.contains(where: { $0.id == meeting?.id(after: union) })
        else { throw Self.unexpected }
    }

    static let unexpected = ProtocolError.unexpected("did not say which zones it takes part in")

    // MARK: Choosing

    /// Returns the caller's choice for the two default zones; nil if the caller has to ask the user.
    private func chosen(_ wanted: ZoneUnion?) throws(ProtocolError) -> ZoneUnion? {
        guard let meeting else {
            guard wanted == .replaceCaller || wanted == .replaceListener else { return ZoneUnion.none }
            throw ProtocolError(
                .notPermitted,
                "the two machines do not share their default zones, so neither can replace the other")
        }
        if let wanted {
            // A wish for different zones has no effect if they are the same, or if one side has both.
            if [.merge, .beside].contains(wanted), !meeting.isFirst { return ZoneUnion.none }
            if sparesOneZone, meeting.areTheSame { return ZoneUnion.none }
            try Self.checkRights(meeting, wanted)
            return wanted
        }
        guard meeting.isPlain, let usual = meeting.usual else { return nil }
        if meeting.isPossible(usual) { return usual }
        // If one side may only read, the two zones stay as they are; but a machine that has just been paired to read has nothing
        // to give up.
        return meeting.isCallerNew && meeting.isPossible(.replaceCaller) ? .replaceCaller : ZoneUnion.none
    }

    /// Returns the choice of the caller's user.
    private static func chosen(_ answer: ZoneAnswer, _ meeting: ZoneMeeting) throws(ProtocolError)
        -> ZoneUnion
    {
        switch answer {
        case .union(let union):
            try checkRights(meeting, union)
            return union
        case .cancel: throw ProtocolError(.declined, "the two zones were left as they are")
        case .nobody:
            guard let usual = meeting.usual else { throw meeting.difference }
            try checkRights(meeting, usual)
            return usual
        }
    }

    /// Returns whether the listener's user has to allow the caller's choice.
    private func needsConsent(_ union: ZoneUnion) throws(ProtocolError) -> Bool {
        guard union != .none else { return false }
        guard let meeting, meeting.isFirst || [.replaceCaller, .replaceListener].contains(union) else {
            throw .unexpected("brings together what is one already")
        }
        try Self.checkRights(meeting, union)
        return union == .replaceListener || (union == .merge && meeting.usual == nil)
    }

    /// Checks that the listener's user allows the caller's choice.
    private static func check(_ answer: ZoneAnswer, allows union: ZoneUnion, _ meeting: ZoneMeeting)
        throws(ProtocolError)
    {
        switch answer {
        case .union(union): return
        case .nobody where union == .merge: throw meeting.difference
        case .nobody:
            throw ProtocolError(
                .declined,
                "nobody is at the machine that is to be replaced to allow it")
        case .union, .cancel:
            throw ProtocolError(
                .declined, "the user of the other machine did not allow it; nothing was changed")
        }
    }

    /// Checks that each side takes the records that the union gives it.
    private static func checkRights(_ meeting: ZoneMeeting, _ union: ZoneUnion) throws(ProtocolError) {
        guard !meeting.isPossible(union) else { return }
        throw ProtocolError(
            .notPermitted,
            "one of the two machines may only read at the other, so it cannot give it anything")
    }

    /// Checks that the union gives no store one zone twice.
    private func checkTarget(_ union: ZoneUnion) throws(ProtocolError) {
        if union == .beside, situation.isCaller, let theirs = meeting?.listener.id,
            !situation.held.contains(theirs), situation.held.count >= ProtocolLimits.maximumZones
        {
            throw ProtocolError(
                .notPermitted,
                "a machine has at most \(ProtocolLimits.maximumZones) zones, and one more would be beside them"
            )
        }
        guard ![.none, .beside].contains(union), let target = meeting?.id(after: union),
            situation.held.contains(target), target != situation.own.first(where: \.isDefault)?.id
        else { return }
        throw ProtocolError(
            .notPermitted,
            "“\(target)” is beside the default zone of one of the two machines already, and not shared with the other"
        )
    }

    private func question(_ meeting: ZoneMeeting, proposal: ZoneUnion?) -> ZoneQuestion {
        let isCaller = situation.isCaller
        return ZoneQuestion(
            peer: situation.peer, ours: .init(isCaller ? meeting.caller : meeting.listener),
            theirs: .init(isCaller ? meeting.listener : meeting.caller), proposal: proposal,
            isCaller: isCaller)
    }

    // MARK: Zones

    private mutating func readTokens(_ union: ZoneUnion, _ theirs: Message.Open?) throws(ProtocolError)
        -> [Step]
    {
        try checkTarget(union)
        state = .readingTokens(union, theirs: theirs)
        return [.readTokens(offers(after: union).map(\.id))]
    }

    /// Returns the zones of this side that take part after the union of the default zones.
    private func offers(after union: ZoneUnion) -> [ZoneOffer] {
        situation.isCaller && union == .beside ? situation.own.filter { !$0.isDefault } : situation.own
    }

    private func entries(after union: ZoneUnion, _ tokens: [ZoneID: ChangeToken]) -> [Message.Open.Entry] {
        let replaced = meeting.map { situation.isCaller ? $0.caller.id : $0.listener.id }
        let target = meeting?.id(after: union)
        let own = offers(after: union).map { offer in
            let isReplaced = union != .none && offer.id == replaced
            return Message.Open.Entry(
                id: isReplaced ? target ?? offer.id : offer.id, received: tokens[offer.id])
        }
        return own + unknown(after: union).map { Message.Open.Entry(id: $0.id, received: nil) }
    }

    /// Returns the zones that the other side offers and this side takes up.
    private func unknown(after union: ZoneUnion) -> [ZoneOffer] {
        let room = max(0, ProtocolLimits.maximumZones - situation.held.count)
        return situation.theirs.filter { offer in
            guard !situation.held.contains(offer.id) else { return false }
            // Both sides have decided about the default zones, and nobody takes up both zones of a union.
            guard !offer.isDefault else { return situation.isCaller && union == .beside }
            return !situation.declined.contains(offer.id)
        }.prefix(room).map(\.self)
    }

    private mutating func share(own: Message.Open, theirs: Message.Open) -> [Step] {
        state = .sharing(own: own, theirs: theirs)
        return [.share(plan(own.union))]
    }

    private func plan(_ union: ZoneUnion) -> ZonePlan {
        let takenUp = unknown(after: union).map { ZonePlan.TakenUp(id: $0.id, name: $0.name) }
        guard union != .none, let ours = situation.own.first(where: \.isDefault),
            let target = meeting?.id(after: union)
        else { return ZonePlan(takenUp: takenUp, defaultZone: nil, offered: offered) }
        let change: ZonePlan.Change =
            if union == .beside {
                situation.isCaller ? .withhold : .keep
            } else {
                union == (situation.isCaller ? .replaceCaller : .replaceListener)
                    ? .replace(by: target) : .become(target)
            }
        return ZonePlan(
            takenUp: takenUp,
            defaultZone: ZonePlan.DefaultZone(id: ours.id, isShared: ours.isShared, change: change),
            offered: offered)
    }

    /// The zones that the other side offers, and that this store has without offering them, or whose deletion keeps it from taking them up.
    private var offered: [ZonePlan.Offered] {
        let own = Set(situation.own.map(\.id))
        return situation.theirs.filter { offer in
            guard !own.contains(offer.id) else { return false }
            return situation.held.contains(offer.id)
                || !offer.isDefault && situation.declined.contains(offer.id)
        }.map { ZonePlan.Offered(id: $0.id, rights: $0.rights) }
    }

    /// Returns the zones that both sides take part in, and this side's rights there.
    private func common(_ own: [Message.Open.Entry], _ theirs: [Message.Open.Entry]) -> [Entry] {
        let tokens = Dictionary(theirs.map { ($0.id, $0.received) }) { first, _ in first }
        let rights = Dictionary(situation.theirs.map { ($0.id, $0.rights) }) { first, _ in first }
        return Set(own.map(\.id)).intersection(tokens.keys).sorted().map { id in
            // The other side has not offered a zone that it takes up, or that a union gives the id of this side's. In the first
            // it lets this side write, and without that right there is no such union.
            Entry(id: id, rights: rights[id] ?? .write, heldByPeer: tokens[id] ?? nil)
        }
    }
}
