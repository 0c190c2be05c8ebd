/// A place in a store's sequence of changes, as CloudKit's server change token: a peer asks for what came after it.
public struct ChangeToken: Sendable, Hashable {
    /// Which run of the store's programs numbered the change; it tells a restored store from the one that gave
    /// the token out.
    public var generation: [UInt8]
    /// Every change up to this number is covered.
    public var sequence: Int64
    /// Set while a whole copy is under way that began at `sequence`: how far it has come.
    public var cursor: Cursor?

    /// A place in a whole copy: first every record that is not deleted, in order of name, then the deletions, in
    /// order of name.
    ///
    /// Deletions come last, so that a record that was moved away from its parent before the parent was deleted
    /// arrives before that deletion could take it along.
    public struct Cursor: Sendable, Hashable {
        /// Whether the deletions have been reached.
        public var isAtDeletions: Bool
        /// The last name that is covered; the empty text comes before all names.
        public var name: String

        /// Nothing is covered yet.
        public static let beforeAll = Cursor(isAtDeletions: false, name: "")!

        /// - Returns: nil when the text is neither empty nor a record name.
        public init?(isAtDeletions: Bool, name: String) {
            guard name.isEmpty || (try? RecordName(name)) != nil else { return nil }
            self.isAtDeletions = isAtDeletions
            self.name = name
        }
    }

    /// Bytes of a generation's id, at most.
    package static let maximumGenerationLength = 32

    public init(generation: [UInt8], sequence: Int64, cursor: Cursor? = nil) {
        self.generation = generation
        self.sequence = sequence
        self.cursor = cursor
    }
}

/// Some records of a zone, in the order of the store's changes or of their names, and the token that covers them.
package struct ChangeBatch: Sendable, Equatable {
    package var records: [RecordState]
    package var token: ChangeToken
    /// Nothing came after this batch when it was read.
    package var isLast: Bool

    package init(records: [RecordState], token: ChangeToken, isLast: Bool) {
        self.records = records
        self.token = token
        self.isLast = isLast
    }
}

/// Where a store stands with a peer in one zone, at one moment.
package struct ZoneSummary: Sendable, Equatable {
    /// Covers everything that this store holds.
    package var current: ChangeToken
    /// What this store holds of the peer's changes; nil for nothing.
    package var received: ChangeToken?
    package var digest: ZoneDigest

    package init(current: ChangeToken, received: ChangeToken?, digest: ZoneDigest) {
        self.current = current
        self.received = received
        self.digest = digest
    }
}
