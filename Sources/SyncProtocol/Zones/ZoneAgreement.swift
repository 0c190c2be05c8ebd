import SyncModel

/// How two machines that have greeted each other agree on the zones of their session: a state machine without I/O.
///
/// The caller chooses what becomes of two default zones that are not the same, asks its user where that is needed, and
/// sends its *open*. The listener sees whether it allows that, asks its user in turn, does its part and sends its own *open*.
/// Then the caller does its part.
package struct ZoneAgreement: Sendable {
    /// A zone that both sides take part in.
    package struct Entry: Sendable, Equatable {
        package let id: ZoneID
        /// What this side may do in it at the other.
        package let rights: ZoneRights
        /// The token that the other side holds.
        package let heldByPeer: ChangeToken?
    }

    /// What the session does next.
    package enum Step: Sendable {
        /// Ask the user, as long as the other side is there. Then ``decided(_:)``.
        case ask(ZoneQuestion)
        /// Read the tokens that this store holds of the other side in these zones. Then ``tokensRead(_:)``.
        case readTokens([ZoneID])
        /// Do in the store what the two have agreed on. Then ``shared()``.
        case share(ZonePlan)
        case send(Message)
        /// The zones of the session, in the order of their numbers.
        case agreed([Entry])
    }

    /// What one side knows before it agrees.
    package struct Situation: Sendable {
        /// What this side calls the other.
        package var peer: String
        package var isCaller: Bool
        /// What this side's *hello* offers.
        package var own: [ZoneOffer]
        /// What the other side's *hello* offers.
        package var theirs: [ZoneOffer]
        /// All zones that this store has, also those that the other side is not to have.
        package var held: Set<ZoneID>

        package init(
            peer: String, isCaller: Bool, own: [ZoneOffer], theirs: [ZoneOffer], held: Set<ZoneID>
        ) {
            self.peer = peer
            self.isCaller = isCaller
            self.own = own
            self.theirs = theirs
            self.held = held
        }
    }

    private enum State: Sendable {
        /// Nothing is chosen. The listener waits for the caller's *open*.
        case undecided
        /// The caller's user chooses.
        case choosing(ZoneMeeting)
        /// The listener's user allows what the caller wants, or does not.
        case allowing(Message.Open, ZoneMeeting)
        /// Waits for the store. The listener has the caller's *open*.
        case readingTokens(ZoneUnion, theirs: Message.Open?)
        /// The caller has sent its *open*.
        case awaitingOpen(ZoneUnion, own: [Message.Open.Entry])
        /// The store does what was agreed.
        case sharing(own: Message.Open, theirs: Message.Open)
        case agreed
    }

    private let situation: Situation
    /// The default zones of the two; nil when one side does not offer its own.
    private let meeting: ZoneMeeting?
    private let startsOver: Bool
    private var state = State.undecided

    /// - Parameter startsOver: the caller forgets what it has of the other side.
    package init(_ situation: Situation, startsOver: Bool = false) {
        self.situation = situation
        self.startsOver = startsOver
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

    // MARK: What happens

    /// The caller begins.
    ///
    /// - Parameter wanted: what the user has chosen beforehand.
    package mutating func call(_ wanted: ZoneUnion?) throws(ProtocolError) -> [Step] {
        guard let union = try chosen(wanted) else {
            guard let meeting else { return [] }
            state = .choosing(meeting)
            return [.ask(question(meeting, proposal: nil))]
        }
        return try readTokens(union, nil)
    }

    /// The user has answered.
    package mutating func decided(_ answer: ZoneAnswer) throws(ProtocolError) -> [Step] {
        switch state {
        case .choosing(let meeting): return try readTokens(try Self.chosen(answer, meeting), nil)
        case .allowing(let open, let meeting):
            try Self.check(answer, allows: open.union, meeting)
            return try readTokens(open.union, open)
        case .undecided, .readingTokens, .awaitingOpen, .sharing, .agreed: return []
        }
    }

    /// The other side has said which zones it takes part in.
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

    /// The store has given the tokens that it holds of the other side.
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

    /// The store has done what was agreed.
    package mutating func shared() -> [Step] {
        guard case .sharing(let own, let theirs) = state else { return [] }
        state = .agreed
        let answer: [Step] = situation.isCaller ? [] : [.send(.open(own))]
        return answer + [.agreed(common(own.zones, theirs.zones))]
    }

    /// What the caller says to the listener's answer: it gives nothing up for what the other side does not give.
    package func confirm(_ union: ZoneUnion, _ open: Message.Open) throws(ProtocolError) {
        guard open.union == union,
            union == .none || open.zones.contains(where: { $0.id == meeting?.id(after: union) })
        else { throw Self.unexpected }
    }

    private static let unexpected = ProtocolError(
        .unexpectedMessage, "the other side did not say which zones it takes part in")

    // MARK: Choosing

    /// What the caller makes of the two default zones; nil when the user has to be asked.
    private func chosen(_ wanted: ZoneUnion?) throws(ProtocolError) -> ZoneUnion? {
        guard let meeting else {
            guard wanted == .replaceCaller || wanted == .replaceListener else { return ZoneUnion.none }
            throw ProtocolError(
                .notPermitted,
                "the two machines do not share their default zones, so neither can replace the other")
        }
        if let wanted {
            // What was wanted for different zones does not matter when they are the same.
            if [.merge, .beside].contains(wanted), !meeting.isFirst { return ZoneUnion.none }
            try Self.checkRights(meeting, wanted)
            return wanted
        }
        guard meeting.isPlain, let usual = meeting.usual else { return nil }
        // Where one side only reads, there is nothing to bring together.
        return meeting.isPossible(usual) ? usual : ZoneUnion.none
    }

    /// What the caller's user has chosen.
    private static func chosen(_ answer: ZoneAnswer, _ meeting: ZoneMeeting) throws(ProtocolError)
        -> ZoneUnion
    {
        switch answer {
        case .union(let union):
            try checkRights(meeting, union)
            return union
        case .cancel: throw ProtocolError(.declined, "the two zones were left as they are")
        case .nobody:
            guard let usual = meeting.usual else { throw different(meeting) }
            try checkRights(meeting, usual)
            return usual
        }
    }

    /// Whether the listener's user has to allow what the caller has chosen.
    private func needsConsent(_ union: ZoneUnion) throws(ProtocolError) -> Bool {
        guard union != .none else { return false }
        guard let meeting, meeting.isFirst || [.replaceCaller, .replaceListener].contains(union) else {
            throw ProtocolError(.unexpectedMessage, "the other side brings together what is one already")
        }
        try Self.checkRights(meeting, union)
        return union == .replaceListener
            || (union == .merge && meeting.areBothShared && !meeting.isPlain)
    }

    /// What the listener's user has said to what the caller has chosen.
    private static func check(_ answer: ZoneAnswer, allows union: ZoneUnion, _ meeting: ZoneMeeting)
        throws(ProtocolError)
    {
        switch answer {
        case .union(union): return
        case .nobody where union == .merge: throw different(meeting)
        case .nobody:
            throw ProtocolError(
                .declined,
                "nobody is at the machine that is to be replaced to allow it")
        case .union, .cancel:
            throw ProtocolError(
                .declined, "the user of the other machine did not allow it; nothing was changed")
        }
    }

    /// Each side that is to get something has to take it.
    private static func checkRights(_ meeting: ZoneMeeting, _ union: ZoneUnion) throws(ProtocolError) {
        guard !meeting.isPossible(union) else { return }
        throw ProtocolError(
            .notPermitted,
            "one of the two machines may only read at the other, so it cannot give it anything")
    }

    /// No store has one zone twice.
    private func checkTarget(_ union: ZoneUnion) throws(ProtocolError) {
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

    private static func different(_ meeting: ZoneMeeting) -> ProtocolError {
        ProtocolError(
            .differentZones,
            "“\(meeting.caller.id)” and “\(meeting.listener.id)” are different zones, and at least one is shared "
                + "with other machines already")
    }

    // MARK: Zones

    private mutating func readTokens(_ union: ZoneUnion, _ theirs: Message.Open?) throws(ProtocolError)
        -> [Step]
    {
        try checkTarget(union)
        state = .readingTokens(union, theirs: theirs)
        return [.readTokens(offers(after: union).map(\.id))]
    }

    /// The zones of this side that take part once the default zones are what `union` makes of them.
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

    /// The zones that the other side offers and this one takes up.
    private func unknown(after union: ZoneUnion) -> [ZoneOffer] {
        let room = max(0, ProtocolLimits.maximumZones - situation.held.count)
        return situation.theirs.filter { offer in
            guard !situation.held.contains(offer.id) else { return false }
            // Both sides have decided about the default zones; and nobody takes up both of two that were brought together.
            return !offer.isDefault || (situation.isCaller && union == .beside)
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
        else { return ZonePlan(takenUp: takenUp, defaultZone: nil) }
        let change: ZonePlan.Change =
            if union == .beside {
                situation.isCaller ? .withhold : .keep
            } else {
                union == (situation.isCaller ? .replaceCaller : .replaceListener)
                    ? .replace(by: target) : .become(target)
            }
        return ZonePlan(
            takenUp: takenUp,
            defaultZone: ZonePlan.DefaultZone(id: ours.id, isShared: ours.isShared, change: change))
    }

    /// The zones that both sides take part in, and what this side may do there.
    private func common(_ own: [Message.Open.Entry], _ theirs: [Message.Open.Entry]) -> [Entry] {
        let tokens = Dictionary(theirs.map { ($0.id, $0.received) }) { first, _ in first }
        let rights = Dictionary(situation.theirs.map { ($0.id, $0.rights) }) { first, _ in first }
        // A zone that was brought together has the rights of what the other side had before.
        let fallback = situation.theirs.first(where: \.isDefault)?.rights ?? .none
        return Set(own.map(\.id)).intersection(tokens.keys).sorted().map { id in
            Entry(id: id, rights: rights[id] ?? fallback, heldByPeer: tokens[id] ?? nil)
        }
    }
}
