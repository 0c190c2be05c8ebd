/// The default zones of two machines have met, and somebody has to say what becomes of them.
public struct ZoneQuestion: Sendable {
    /// One of the two.
    public struct Side: Sendable, Hashable {
        /// What the zone is called there.
        public let zone: String
        /// How many records it has.
        public let records: Int
        /// Whether it is shared with others already.
        public let isShared: Bool

        init(_ offer: ZoneOffer) {
            zone = offer.name
            records = Int(clamping: offer.recordCount)
            isShared = offer.isShared
        }
    }

    /// What this machine calls the other.
    public let peer: String
    public let ours: Side
    public let theirs: Side
    /// What the other machine's user wants, if they have chosen already; then it is to be allowed, with the same answer, or
    /// not. Nothing is chosen yet when this is nil.
    public let proposal: ZoneUnion?
    /// Whether this machine has made the connection.
    public let isCaller: Bool
}

/// What somebody said.
public enum ZoneAnswer: Sendable, Hashable {
    case union(ZoneUnion)
    /// To leave everything as it is.
    case cancel
    /// Nobody is there to be asked.
    case nobody
}
