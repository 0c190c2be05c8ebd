import PeerSyncModel

/// The digests that the two sides have told each other, and this side's findings.
struct DigestComparison: Sendable, Hashable {
    /// Whether this side has to tell the peer a digest, because batches came or went since the last one.
    private(set) var isDue = true
    /// Whether the store is asked for the digest to tell.
    private var isBeingTaken = false
    /// The number of comparisons of everything in this session.
    private(set) var round = 0
    /// The digest that this side told last.
    private var told: ZoneSummary?
    /// The digest that the peer told last.
    private var heard: ZoneSummary?
    /// This side's digest when it found the two equal.
    private var confirmed: ZoneSummary?
    /// Whether this side has asked to compare everything because of unequal digests, and the two have not been equal since.
    private var isResyncVain = false

    /// Whether both sides know that the two were equal when this side told its last digest, and nothing came or went since.
    var isConfirmed: Bool { told != nil && told == confirmed && !isDue && !isBeingTaken }

    /// Notes that batches came or went.
    mutating func becomeDue() { isDue = true }

    /// Notes that the store is asked for the digest to tell.
    mutating func take() {
        isDue = false
        isBeingTaken = true
    }

    mutating func hear(_ summary: ZoneSummary) { heard = summary }

    /// Whether another program has mended the store. A mended store has lost its token of the peer.
    func isMended(_ summary: ZoneSummary) -> Bool {
        told?.received != nil && summary.received == nil
    }

    /// Notes a digest of this side.
    ///
    /// - Returns: whether to tell it to the peer, and the peer's digest to compare it with.
    mutating func tell(_ summary: ZoneSummary) -> (isNews: Bool, heard: ZoneSummary?) {
        defer {
            told = summary
            isBeingTaken = false
        }
        // The peer's last digest may have been ahead of this side, and the peer does not repeat it.
        return (summary != told, confirmed == summary ? nil : heard)
    }

    /// Compares the digests of the two. It gives no result while one of them lacks records that are on their way.
    mutating func compare(_ own: ZoneSummary, with peer: ZoneSummary) -> ZoneExchange.Verdict {
        guard (peer.received ?? .start) == own.current, (own.received ?? .start) == peer.current else {
            return .notYet
        }
        // Records that one side keeps and the other refuses make the digests differ.
        guard own.digest == peer.digest || own.refused > 0 || peer.refused > 0 else { return .different }
        confirmed = own
        isResyncVain = false
        if told != own { isDue = true }
        return .equal
    }

    /// Notes that the digests differ although nothing is on its way.
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

    /// Begins a comparison of everything. The digests told before count no more.
    mutating func begin(round: Int) {
        self.round = round
        told = nil
        heard = nil
        confirmed = nil
        isDue = true
        isBeingTaken = false
    }
}
