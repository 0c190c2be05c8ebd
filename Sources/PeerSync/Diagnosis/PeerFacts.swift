/// What was observed of another machine.
public struct PeerFacts: Sendable, Equatable {
    /// What this machine knows of the network's neighbour with the address.
    public enum Neighbour: Sendable, Equatable {
        /// It answers, or it is no direct neighbour, or the system does not say.
        case unknown
        /// Nobody says that he has the address, while the way out of the network answers.
        case silent(isWireless: Bool)
    }

    /// What the store has noted of the machine.
    public struct Noted: Sendable, Equatable {
        /// Its public key.
        public var key: [UInt8]
        /// The kind of the last error, if it came after the last sync.
        public var lastError: PeerSyncError.Code?
        /// What the store says of that error, in a sentence.
        public var lastErrorText: String?
        /// When both were last in sync, in milliseconds since 1970.
        public var lastSync: Int64?
        /// Whether a session with it runs now.
        public var isConnected: Bool

        /// Makes notes; see the properties.
        public init(
            key: [UInt8], lastError: PeerSyncError.Code? = nil, lastErrorText: String? = nil,
            lastSync: Int64? = nil, isConnected: Bool = false
        ) {
            self.key = key
            self.lastError = lastError
            self.lastErrorText = lastErrorText
            self.lastSync = lastSync
            self.isConnected = isConnected
        }
    }

    /// The name of the machine here; nil for an address that somebody typed and that no peer has.
    public var name: String?
    /// What the store has noted of it; nil when it is not paired.
    public var noted: Noted?
    /// Where this machine looked for it; nil when no address is known.
    public var address: String?
    /// What came of it; nil when nobody has tried.
    public var outcome: PeerProbe.Outcome?
    /// What this machine knows of the neighbour with that address.
    public var neighbour: Neighbour

    /// Makes facts; see the properties.
    public init(
        name: String?, noted: Noted?, address: String?, outcome: PeerProbe.Outcome?,
        neighbour: Neighbour = .unknown
    ) {
        self.name = name
        self.noted = noted
        self.address = address
        self.outcome = outcome
        self.neighbour = neighbour
    }
}
