import PeerSyncModel

/// The batches that this side sends in one zone: the position of its stream of changes, and the batches that the peer
/// has not acknowledged yet.
struct OutgoingStream: Sendable, Hashable {
    private enum State {
        /// There may be changes after the position.
        case unread
        /// The store reads the next batch.
        case reading
        /// The store reads the next batch, which may miss a change that was made meanwhile.
        case readingBehind
        /// Nothing comes after the position.
        case atEnd
    }

    private struct Batch: Hashable {
        let token: ChangeToken
        let isLoose: Bool
    }

    private var state = State.unread
    /// The token after which the next batch begins.
    private(set) var position = ChangeToken.start
    private var includesEcho = false
    /// Whether the peer waits for the batch that ends the stream, and takes its token from that batch.
    var owesEnd = false
    /// The batches that the peer has not acknowledged, in the order in which they were sent.
    private var unacknowledged: [Batch] = []

    var isReading: Bool { state == .reading || state == .readingBehind }
    /// Whether this side has sent everything, and the peer has acknowledged it.
    var isAtRest: Bool { state == .atEnd && unacknowledged.isEmpty }
    /// Whether the peer has batches that it has not acknowledged.
    var awaitsAcknowledgement: Bool { !unacknowledged.isEmpty }
    /// The token of the oldest batch of which the peer may still refuse records: it says so before it acknowledges the batch.
    var oldestRefusable: ChangeToken { unacknowledged.first?.token ?? position }
    /// Whether this side may send one more batch without an acknowledgement.
    var hasRoom: Bool { unacknowledged.count < ProtocolLimits.window }
    var hasLooseUnacknowledged: Bool { unacknowledged.contains(where: \.isLoose) }

    mutating func begin(at token: ChangeToken, includingEcho: Bool = false) {
        position = token
        includesEcho = includingEcho
    }

    mutating func storeChanged() {
        state = isReading ? .readingBehind : .unread
    }

    /// Returns the next read; nil at the end, or if too many batches are on their way.
    mutating func nextRead() -> ZoneExchange.Request? {
        guard state == .unread, hasRoom else { return nil }
        state = .reading
        return .read(after: position, includingEcho: includesEcho)
    }

    /// Notes that the store has read the next batch.
    ///
    /// - Returns: whether the batch tells the peer anything.
    mutating func batchRead(_ batch: ChangeBatch) -> Bool {
        state = batch.isLast && state == .reading ? .atEnd : .unread
        let isNews = !batch.records.isEmpty || batch.token != position
        position = batch.token
        guard isNews || owesEnd else { return false }
        owesEnd = !batch.isLast
        unacknowledged.append(Batch(token: batch.token, isLoose: false))
        return true
    }

    /// Makes the batch that brings the peer records that it lacks.
    mutating func looseBatch(_ records: [RecordState], isLast: Bool) -> ChangeBatch {
        unacknowledged.append(Batch(token: position, isLoose: true))
        return ChangeBatch(records: records, token: position, isLast: isLast, isLoose: true)
    }

    /// Notes that the peer has acknowledged a batch, and all batches before it.
    ///
    /// - Returns: the token up to which the peer has the stream now, if that has changed.
    mutating func acknowledged(_ token: ChangeToken) throws(ProtocolError) -> ChangeToken? {
        guard let index = unacknowledged.firstIndex(where: { $0.token == token }) else {
            throw .unexpected("acknowledged what was not sent")
        }
        defer { unacknowledged.removeSubrange(...index) }
        return unacknowledged[...index].last { !$0.isLoose }?.token
    }
}
