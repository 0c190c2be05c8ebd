import PeerSyncModel

/// The exchange of the zones of a session after the agreement, each by its ``ZoneExchange``. It is a part of
/// ``Session``.
struct SessionExchange: Sendable {
    /// The exchange of one zone, and the session's notes about it.
    struct Zone: Sendable {
        let entry: ZoneAgreement.Entry
        var exchange: ZoneExchange
        /// Whether to compare everything once the two sides are found equal.
        var comparesEverything: Bool
        /// The digest that both sides last found equal.
        var agreedDigest: ZoneDigest?
        /// The number of in-sync notes that the store is writing at this moment.
        var notes = 0
        /// The records that this side sent and received because the two sides differed. Only a comparison of everything
        /// notes them, because a set grows with what the other side sends.
        var sent: Set<RecordName> = []
        var received: Set<RecordName> = []
    }

    /// ``Session`` itself tells an exchange what makes no actions, and what the store answers.
    var zones: [Zone]
    /// The grants of the session. A change of them ends it.
    let grants: SessionGrants
    private let comparesEverything: Bool
    /// The digest in the last *household* message to the other side. A whole set that is sent does not change it.
    var toldHousehold: [UInt8]?
    /// Whether the other side has told its digest of the household.
    var hasHeardHousehold = false

    init(
        _ entries: [ZoneAgreement.Entry], grants: SessionGrants, isCaller: Bool, comparesEverything: Bool
    ) {
        self.grants = grants
        self.comparesEverything = comparesEverything
        zones = entries.enumerated().map { number, entry in
            Zone(
                entry: entry, exchange: ZoneExchange(zone: number, isCaller: isCaller),
                comparesEverything: comparesEverything)
        }
    }

    // MARK: The session as a whole

    /// Whether both sides know that they hold the same records, and the store has noted it.
    var isSettled: Bool { zones.allSatisfy { $0.exchange.isConfirmed && $0.notes == 0 } }

    /// The actions that begin the exchange of each zone.
    var beginnings: [Session.Action] {
        zones.indices.map { number in
            let entry = zones[number].entry
            return .begin(zone: number, heldByPeer: entry.heldByPeer, rights: entry.rights)
        }
    }

    /// The differences that a comparison of everything found; nil if nobody asked for one.
    var differences: SyncDifferences? {
        guard comparesEverything else { return nil }
        return zones.reduce(into: SyncDifferences()) { all, zone in
            all.sent += zone.sent.sorted()
            all.received += zone.received.sorted()
        }
    }

    /// Whether the other side has batches that it has not acknowledged.
    var awaitsAcknowledgement: Bool { zones.contains(where: \.exchange.awaitsAcknowledgement) }

    /// The number of records that the other side is still going to send; nil if this side does not know.
    var recordsLeftToReceive: Int? {
        let left = zones.compactMap(\.exchange.recordsLeftToReceive)
        return left.count == zones.count ? left.reduce(0, +) : nil
    }

    // MARK: Messages

    /// Handles a message of one zone.
    mutating func received(_ message: Message, zone number: Int) throws(ProtocolError) -> [Session.Action] {
        guard zones.indices.contains(number) else {
            throw ProtocolError(
                .malformed, "the other side named a zone that is not part of this session")
        }
        switch message {
        case .begin(let begin):
            let actions = try zones[number].exchange.received(begin)
            // The store notes the begin only now: a caller that cannot keep to the agreement sends no begin.
            let start = zones[number].exchange.start
            return [.noteBegun(zone: number, at: start)] + self.actions(actions, number)
        case .batch(_, let batch):
            let actions = try zones[number].exchange.received(batch)
            if batch.isLoose, comparesEverything {
                zones[number].received.formUnion(batch.records.lazy.map(\.name))
            }
            return self.actions(actions, number)
        case .acknowledge(_, let token):
            return actions(try zones[number].exchange.receivedAcknowledgement(token), number)
        case .digest(_, let summary): return actions(try zones[number].exchange.received(summary), number)
        case .reconcile(let step): return actions(try zones[number].exchange.received(step), number)
        case .resync(_, let round):
            return actions(try zones[number].exchange.receivedResync(round: round), number)
        case .refuse(let refuse):
            try zones[number].exchange.checkHasBegun()
            guard !refuse.names.isEmpty else { return [] }
            let batch = zones[number].exchange.oldestRefusable
            return [.noteRefused(zone: number, reason: refuse.reason, refuse.names, in: batch)]
        case .hello, .pairingShare, .pairingTag, .open, .assetRequest, .assetChunk, .assetMissing,
            .assetsAvailable, .assetsWanted, .household, .householdSet, .ping, .pong, .error, .goodbye,
            .unknown:
            return []
        }
    }

    /// Checks that the other side has begun in all zones.
    func checkHasBegun() throws(ProtocolError) {
        for zone in zones { try zone.exchange.checkHasBegun() }
    }

    /// Returns what a session does for the actions of a zone.
    mutating func actions(_ actions: [ZoneExchange.Action], _ number: Int) -> [Session.Action] {
        actions.map { action in
            switch action {
            case .send(let message): return .send(message)
            case .checkRecords:
                // The next steps compare everything, whichever side has asked for it.
                zones[number].comparesEverything = false
                return .zone(number, action)
            default: return .zone(number, action)
            }
        }
    }

    // MARK: Answers of the store

    mutating func began(
        zone number: Int, at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64
    ) -> [Session.Action] {
        [
            .send(
                zones[number].exchange.begin(
                    at: token, isHeldTokenVoid: isHeldTokenVoid, recordCount: recordCount))
        ]
    }

    mutating func resolved(_ names: [RecordName], zone number: Int) -> [Session.Action] {
        if comparesEverything { zones[number].sent.formUnion(names) }
        return actions(zones[number].exchange.resolved(names), number)
    }

    /// Compares a summary from the store with that of the other side.
    ///
    /// - Parameter isLeaving: whether the session begins nothing any more.
    mutating func compared(
        _ ours: ZoneSummary, with theirs: ZoneSummary, zone number: Int, isLeaving: Bool
    ) throws(ProtocolError) -> [Session.Action] {
        switch zones[number].exchange.compare(ours, with: theirs) {
        case .notYet: return []
        case .equal where zones[number].comparesEverything:
            return actions(zones[number].exchange.compareEverything(), number)
        case .equal:
            zones[number].agreedDigest = ours.digest
            zones[number].notes += 1
            return [.noteInSync(zone: number, ours.digest), .zone(number, .wake)]
        case .different:
            return isLeaving ? [] : actions(try zones[number].exchange.resync(), number)
        }
    }
}
