import PeerSyncModel

/// The loose batches that the two sides send each other after a reconciliation, with the records that the receiver
/// lacks. Each side sends at least one batch, and marks its last.
struct LooseExchange: Sendable, Hashable {
    private enum Outgoing: Hashable {
        /// The store finds the names of the records that the peer lacks.
        case resolving
        /// The store has yet to read these records.
        case pending(ArraySlice<RecordName>)
        /// The store reads the first of these records.
        case reading(ArraySlice<RecordName>)
        /// This side has sent its last batch.
        case sent
        /// The peer has made all batches durable.
        case durable
    }

    private enum Incoming {
        /// More batches may come.
        case open
        /// The last batch has come, and this side is applying it.
        case ending
        /// This side has made all batches durable.
        case durable
    }

    /// The greatest number of records that the store reads by name at once.
    private static let recordsInBatch = 1000

    /// The token of the inventory, if the streams begin there. When the exchange is complete, the peer has everything
    /// that the token covers. No other acknowledgement covers the records that both sides had, because nobody sends
    /// these.
    let snapshot: ChangeToken?
    private var outgoing = Outgoing.resolving
    private var incoming = Incoming.open

    init(snapshot: ChangeToken?) {
        self.snapshot = snapshot
    }

    /// Whether this side has received all records that it lacked.
    var hasReceivedAll: Bool { incoming == .durable }

    /// Whether this side's stream may go on. The token that ends it must cover the answers to the peer's loose
    /// batches.
    var letsStreamGoOn: Bool {
        switch outgoing {
        case .sent, .durable: hasReceivedAll
        case .resolving, .pending, .reading: false
        }
    }

    /// Whether each side has all records that it lacked, and this side knows it.
    var isComplete: Bool {
        if case .durable = outgoing { hasReceivedAll } else { false }
    }

    // MARK: Sending

    mutating func resolved(_ names: [RecordName]) {
        if case .resolving = outgoing { outgoing = .pending(names[...]) }
    }

    /// Returns the records to read next; empty if the peer lacks none, nil if there is nothing to read now.
    mutating func nextNames() -> [RecordName]? {
        guard case .pending(let names) = outgoing else { return nil }
        outgoing = .reading(names)
        return Array(names.prefix(Self.recordsInBatch))
    }

    /// Notes that the store has read records. It reads fewer than this side asked for if more would not fit into a batch.
    ///
    /// - Parameter count: the number of names, from the first on, that the store has dealt with; at least one, if there is one.
    /// - Returns: whether they are the last; nil if this side asked for none.
    mutating func recordsRead(_ count: Int) -> Bool? {
        guard case .reading(let names) = outgoing else { return nil }
        let remaining = names.dropFirst(count)
        outgoing = remaining.isEmpty ? .sent : .pending(remaining)
        return remaining.isEmpty
    }

    /// Notes that the peer has acknowledged all loose batches so far.
    ///
    /// - Returns: the token that covers what the peer has now; nil if the exchange is not complete.
    mutating func acknowledged() -> ChangeToken? {
        guard case .sent = outgoing else { return nil }
        outgoing = .durable
        return isComplete ? snapshot : nil
    }

    // MARK: Receiving

    /// - Returns: false if the batch is out of turn.
    mutating func received(_ batch: ChangeBatch) -> Bool {
        guard incoming == .open else { return false }
        if batch.isLast { incoming = .ending }
        return true
    }

    /// - Returns: the token that covers what the peer has now; nil if the exchange is not complete.
    mutating func applied(_ batch: ChangeBatch) -> ChangeToken? {
        guard batch.isLast else { return nil }
        incoming = .durable
        return isComplete ? snapshot : nil
    }
}
