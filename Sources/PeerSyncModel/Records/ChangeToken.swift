/// A place in a store's sequence of changes, like CloudKit's server change token: a peer asks for the changes after
/// it.
public struct ChangeToken: Sendable, Hashable {
    /// The run of a program that numbered the change. It distinguishes a restored store from the store that gave the
    /// token out.
    public var generation: [UInt8]
    /// The token covers every change up to this number.
    public var sequence: Int64
    /// The holder need not hear of the deletions up to this number that the store has forgotten: it began with nothing
    /// after the store had forgotten them. The horizon is 0 unless it is greater than ``sequence``, and it is greater
    /// only during a whole copy.
    public var horizon: Int64

    /// The place before every change of every store. The changes after it are a whole copy.
    package static let start = ChangeToken(
        generation: [UInt8](repeating: 0, count: generationLength), sequence: 0)

    /// Returns the beginning of a whole copy for a peer that need not hear of the forgotten deletions up to `horizon`.
    package static func wholeCopy(horizon: Int64) -> ChangeToken {
        ChangeToken(generation: start.generation, sequence: 0, horizon: horizon)
    }

    /// The length of a generation that this program makes, in bytes.
    package static let generationLength = 8
    /// The greatest length of any generation, in bytes.
    package static let maximumGenerationLength = 32

    /// Makes a token of its parts.
    ///
    /// - Parameters:
    ///   - generation: see ``generation``.
    ///   - sequence: see ``sequence``.
    ///   - horizon: see ``horizon``; counts as 0 unless it is greater than `sequence`.
    public init(generation: [UInt8], sequence: Int64, horizon: Int64 = 0) {
        self.generation = generation
        self.sequence = sequence
        self.horizon = horizon > sequence ? horizon : 0
    }
}

/// Some records of a zone, in the order of the store's changes, and the token that covers them.
package struct ChangeBatch: Sendable, Hashable {
    package var records: [RecordState]
    package var token: ChangeToken
    /// Whether nothing came after this batch when the store read it. For a loose batch: whether it is the last of
    /// them.
    package var isLast: Bool
    /// Whether a reconciliation found that the receiver lacks these records. Then they have no order, and the token
    /// does not cover them.
    package var isLoose: Bool

    package init(records: [RecordState], token: ChangeToken, isLast: Bool, isLoose: Bool = false) {
        self.records = records
        self.token = token
        self.isLast = isLast
        self.isLoose = isLoose
    }
}

/// The state of a store towards a peer in one zone, at one moment.
package struct ZoneSummary: Sendable, Hashable {
    /// The token that covers all changes of this store.
    package var current: ChangeToken
    /// The token that covers the peer's changes in this store; nil if there are none.
    package var received: ChangeToken?
    package var digest: ZoneDigest
    /// The number of this store's records that the peer has refused, or that are too large to travel. The digests
    /// cannot be equal while there are any.
    package var refused: Int

    package init(current: ChangeToken, received: ChangeToken?, digest: ZoneDigest, refused: Int = 0) {
        self.current = current
        self.received = received
        self.digest = digest
        self.refused = refused
    }
}
