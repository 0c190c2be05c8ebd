/// A place in a store's sequence of changes, as CloudKit's server change token: a peer asks for what came after it.
public struct ChangeToken: Sendable, Hashable {
    /// Which run of the store's programs numbered the change; it tells a restored store from the one that gave
    /// the token out.
    public var generation: [UInt8]
    /// Every change up to this number is covered.
    public var sequence: Int64
    /// Deletions up to this number that the store has forgotten do not concern the holder, because it began with nothing
    /// when they were forgotten already; 0 when `sequence` says as much. It is greater than `sequence` only while a
    /// whole copy is under way.
    public var horizon: Int64

    /// Before every change of every store: what comes after it is a whole copy.
    package static let start = ChangeToken(
        generation: [UInt8](repeating: 0, count: generationLength), sequence: 0)

    /// Where a whole copy begins for a peer that deletions up to `horizon`, which are forgotten, do not concern.
    package static func wholeCopy(horizon: Int64) -> ChangeToken {
        ChangeToken(generation: start.generation, sequence: 0, horizon: horizon)
    }

    /// Bytes of the id of a generation of this program's.
    package static let generationLength = 8
    /// Bytes of a generation's id, at most.
    package static let maximumGenerationLength = 32

    public init(generation: [UInt8], sequence: Int64, horizon: Int64 = 0) {
        self.generation = generation
        self.sequence = sequence
        self.horizon = horizon > sequence ? horizon : 0
    }
}

/// Some records of a zone, in the order of the store's changes, and the token that covers them.
package struct ChangeBatch: Sendable, Equatable {
    package var records: [RecordState]
    package var token: ChangeToken
    /// Nothing came after this batch when it was read. Of loose batches: this is the last of them.
    package var isLast: Bool
    /// The records are those that a reconciliation found the receiver to lack, in no order: the token says nothing
    /// of what it holds.
    package var isLoose: Bool

    package init(records: [RecordState], token: ChangeToken, isLast: Bool, isLoose: Bool = false) {
        self.records = records
        self.token = token
        self.isLast = isLast
        self.isLoose = isLoose
    }
}

/// Where a store stands with a peer in one zone, at one moment.
package struct ZoneSummary: Sendable, Equatable {
    /// Covers everything that this store holds.
    package var current: ChangeToken
    /// What this store holds of the peer's changes; nil for nothing.
    package var received: ChangeToken?
    package var digest: ZoneDigest
    /// How many records the peer has refused to take from this store; as long as there are any, digests cannot be equal.
    package var refused: Int

    package init(current: ChangeToken, received: ChangeToken?, digest: ZoneDigest, refused: Int = 0) {
        self.current = current
        self.received = received
        self.digest = digest
        self.refused = refused
    }
}
