import SyncModel

/// What the two sides have told each other of their digests, and what this side has found.
struct DigestComparison: Sendable {
    /// The peer has to be told a digest: something came or went since the last one.
    var isDue = true
    /// How many times the two have compared everything in this session.
    private(set) var round = 0
    /// The digest that the peer was told last.
    private var told: ZoneSummary?
    /// The digest that the peer told last.
    private var heard: ZoneSummary?
    /// This side's digest when it found the two equal.
    private var confirmed: ZoneSummary?
    /// The two have compared everything because of unequal digests, and were not found equal since.
    private var isResyncVain = false

    /// Both sides know that the two were equal when this side told its last digest.
    var isConfirmed: Bool { told != nil && told == confirmed }

    mutating func hear(_ summary: ZoneSummary) { heard = summary }

    /// Whether another program has mended the store, which lost what it knew of the peer.
    func isMended(_ summary: ZoneSummary) -> Bool {
        told?.received != nil && summary.received == nil
    }

    /// Notes a digest of this side.
    ///
    /// - Returns: whether to tell it to the peer, and the digest of the peer to compare it with.
    mutating func tell(_ summary: ZoneSummary) -> (isNews: Bool, heard: ZoneSummary?) {
        defer { told = summary }
        // The peer's last digest may have been ahead of this side, and the peer does not tell it twice.
        return (summary != told, confirmed == summary ? nil : heard)
    }

    /// Compares digests of the two while no records are on their way that one of them lacks.
    mutating func compare(_ own: ZoneSummary, with peer: ZoneSummary) -> ZoneExchange.Verdict {
        guard (peer.received ?? .start) == own.current, (own.received ?? .start) == peer.current else {
            return .notYet
        }
        // What one side keeps and the other refuses cannot be equal.
        guard own.digest == peer.digest || own.refused > 0 || peer.refused > 0 else { return .different }
        confirmed = own
        isResyncVain = false
        if told != own { isDue = true }
        return .equal
    }

    /// The digests differ although nothing is on its way.
    ///
    /// - Throws: `digestMismatch` if comparing everything has not helped before.
    mutating func noteResync() throws(ProtocolError) {
        guard !isResyncVain else {
            throw ProtocolError(
                .digestMismatch,
                "the two sides still differ after everything was compared; please report this")
        }
        isResyncVain = true
    }

    /// The two begin to compare everything: what they have told each other counts no more.
    mutating func begin(round: Int) {
        self.round = round
        told = nil
        heard = nil
        confirmed = nil
        isDue = true
    }
}
