import SyncModel

/// What the two send each other after a reconciliation: loose batches, with the records that it found the receiver to
/// lack. Each side sends at least one, and marks its last.
struct LooseExchange: Sendable {
    private enum Outgoing {
        /// The store finds the names of the records that the peer lacks.
        case resolving
        /// These records are to be read.
        case pending(ArraySlice<RecordName>)
        /// The store reads some of the records; these are to be read later.
        case reading(remaining: ArraySlice<RecordName>)
        /// The last batch was sent.
        case sent
        /// The peer has made all batches durable.
        case durable
    }

    private enum Incoming {
        /// More batches may come.
        case open
        /// The last batch has come, and is being applied.
        case ending
        /// This side has made all batches durable.
        case durable
    }

    /// How many records are read by name at once.
    private static let recordsInBatch = 1000

    /// The token of the inventory, if the streams begin there. When the exchange is complete, the peer has all that the
    /// token covers. No other acknowledgement says so of what the two had alike, which is never sent.
    let snapshot: ChangeToken?
    private var outgoing = Outgoing.resolving
    private var incoming = Incoming.open

    init(snapshot: ChangeToken?) {
        self.snapshot = snapshot
    }

    /// This side has all that it lacked.
    var hasReceivedAll: Bool { incoming == .durable }

    /// This side's stream may go on: its answers to the peer's loose batches belong before the token that ends it.
    var letsStreamGoOn: Bool {
        switch outgoing {
        case .sent, .durable: hasReceivedAll
        case .resolving, .pending, .reading: false
        }
    }

    /// Each side has all that it lacked, and this side knows.
    var isComplete: Bool {
        if case .durable = outgoing { hasReceivedAll } else { false }
    }

    // MARK: Sending

    mutating func resolved(_ names: [RecordName]) {
        if case .resolving = outgoing { outgoing = .pending(names[...]) }
    }

    /// The records to read next; empty if the peer lacks none, nil if there is nothing to read now.
    mutating func nextNames() -> [RecordName]? {
        guard case .pending(let names) = outgoing else { return nil }
        outgoing = .reading(remaining: names.dropLast(Self.recordsInBatch))
        return Array(names.suffix(Self.recordsInBatch))
    }

    /// The store has read the records.
    ///
    /// - Returns: whether they are the last; nil if none were to be read.
    mutating func recordsRead() -> Bool? {
        guard case .reading(let remaining) = outgoing else { return nil }
        outgoing = remaining.isEmpty ? .sent : .pending(remaining)
        return remaining.isEmpty
    }

    /// The peer has acknowledged all loose batches that were sent so far.
    ///
    /// - Returns: what the peer has now.
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

    /// - Returns: what the peer has now.
    mutating func applied(_ batch: ChangeBatch) -> ChangeToken? {
        guard batch.isLast else { return nil }
        incoming = .durable
        return isComplete ? snapshot : nil
    }
}
