/// A place in a store's sequence of changes, as CloudKit's server change token: a peer asks for what came after it.
public struct ChangeToken: Sendable, Hashable {
    /// Which run of the store's programs numbered the change; it tells a restored store from the one that gave
    /// the token out.
    public var generation: [UInt8]
    /// Every change up to this number is covered.
    public var sequence: Int64
    /// Set while a whole copy is under way that began at `sequence`: names up to this one are covered.
    public var cursor: Cursor?

    /// How far a whole copy in order of name has come.
    public enum Cursor: Sendable, Hashable {
        /// Nothing is covered yet.
        case beforeAll
        /// Everything up to this name is covered.
        case through(RecordName)

        /// The name, or the empty text, which comes before all names.
        package var text: String {
            switch self {
            case .beforeAll: ""
            case .through(let name): name.description
            }
        }

        package init(text: String) throws {
            self = text.isEmpty ? .beforeAll : .through(try RecordName(text))
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
