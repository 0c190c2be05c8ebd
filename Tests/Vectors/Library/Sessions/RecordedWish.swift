import PeerSyncProtocol

/// What the users of both machines want from a session.
package struct RecordedWish: Sendable {
    var union: ZoneUnion?
    var startsOver = false
    var comparesEverything = false
    /// The answer of the listener's user to a question about a union.
    var answer = ZoneAnswer.nobody

    package init(
        union: ZoneUnion? = nil, startsOver: Bool = false, comparesEverything: Bool = false,
        answer: ZoneAnswer = .nobody
    ) {
        self.union = union
        self.startsOver = startsOver
        self.comparesEverything = comparesEverything
        self.answer = answer
    }

    var call: SessionPurpose {
        .call(SessionCall(comparesEverything: comparesEverything, startsOver: startsOver, union: union))
    }
}
