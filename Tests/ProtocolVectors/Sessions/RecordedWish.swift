import SyncProtocol

/// What the users of the two machines want of a session.
package struct RecordedWish: Sendable {
    var union: ZoneUnion?
    var startsOver = false
    var comparesEverything = false
    /// What the listener's user says to a union that they are asked about.
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
