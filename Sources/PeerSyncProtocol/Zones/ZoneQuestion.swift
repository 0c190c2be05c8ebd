/// A question to the user about the default zones of two machines that have met.
public struct ZoneQuestion: Sendable {
    /// One of the two zones.
    public struct Side: Sendable, Hashable {
        /// The zone's name at that side.
        public let zone: String
        /// The number of records in the zone.
        public let records: Int
        /// Whether other machines share the zone already.
        public let isShared: Bool

        /// Makes a side for previews and tests of an app; see the properties.
        public init(zone: String, records: Int, isShared: Bool = false) {
            self.zone = zone
            self.records = records
            self.isShared = isShared
        }

        init(_ offer: ZoneOffer) {
            self.init(
                zone: offer.name, records: Int(clamping: offer.recordCount), isShared: offer.isShared)
        }
    }

    /// This machine's name for the other.
    public let peer: String
    /// This machine's default zone.
    public let ours: Side
    /// The other machine's default zone.
    public let theirs: Side
    /// The choice of the other machine's user. The user here allows it with the same answer, or does not. It is nil if
    /// nobody has chosen yet.
    public let proposal: ZoneUnion?
    /// Whether this machine has made the connection.
    public let isCaller: Bool

    /// Makes a question for previews and tests of an app; see the properties.
    public init(
        peer: String, ours: Side, theirs: Side, proposal: ZoneUnion? = nil, isCaller: Bool = true
    ) {
        self.peer = peer
        self.ours = ours
        self.theirs = theirs
        self.proposal = proposal
        self.isCaller = isCaller
    }
}

/// The answer to a ``ZoneQuestion``.
public enum ZoneAnswer: Sendable, Hashable {
    /// The two zones become this.
    case union(ZoneUnion)
    /// Leaves everything as it is.
    case cancel
    /// Nobody is there to answer.
    case nobody
}
