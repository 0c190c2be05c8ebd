import SyncModel

/// What two machines do once they have agreed: they exchange the zones of the session, each by its ``ZoneExchange``.
///
/// A part of ``Session``, which see.
struct SessionExchange: Sendable {
    /// The exchange of one zone, and what the session says of it.
    private struct Zone: Sendable {
        let entry: ZoneAgreement.Entry
        var exchange: ZoneExchange
        /// Whether everything is compared once the two sides are found equal.
        var comparesEverything: Bool
        /// The digest that both sides last found equal.
        var agreedDigest: ZoneDigest?
        /// So many times the store notes at this moment that both sides hold the same.
        var notes = 0
        var differences = SyncDifferences()
    }

    private var zones: [Zone]
    /// What this side goes by; a change of it ends the session.
    let grants: SessionGrants
    private let comparesEverything: Bool
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

    /// Both sides know that they hold the same records, and the store has noted it.
    var isSettled: Bool { zones.allSatisfy { $0.exchange.isConfirmed && $0.notes == 0 } }

    /// How to begin the exchange of each zone.
    var beginnings: [Session.Action] {
        zones.indices.map { number in
            let entry = zones[number].entry
            return .begin(
                zone: number, heldByPeer: entry.heldByPeer, peerTakesWrites: entry.rights == .write)
        }
    }

    /// The digest that both sides found equal last in a zone.
    func agreedDigest(ofZone number: Int) -> ZoneDigest? { zones[number].agreedDigest }

    /// What was found to differ, if everything was to be compared.
    var differences: SyncDifferences? {
        guard comparesEverything else { return nil }
        return zones.reduce(into: SyncDifferences()) { all, zone in
            all.sent += zone.differences.sent
            all.received += zone.differences.received
        }
    }

    // MARK: Messages

    /// A message of one zone.
    mutating func received(_ message: Message, zone number: Int) throws(ProtocolError) -> [Session.Action] {
        guard zones.indices.contains(number) else {
            throw ProtocolError(
                .malformed, "the other side named a zone that is not part of this session")
        }
        switch message {
        case .begin(let begin):
            let actions = try zones[number].exchange.received(begin)
            // Only now: a caller that finds that it cannot keep to what was agreed does not begin.
            let start = zones[number].exchange.start
            return [.noteBegun(zone: number, at: start)] + self.actions(actions, number)
        case .batch(_, let batch):
            let actions = try zones[number].exchange.received(batch)
            if batch.isLoose { zones[number].differences.received += batch.records.map(\.name) }
            return self.actions(actions, number)
        case .acknowledge(_, let token):
            return actions(try zones[number].exchange.receivedAcknowledgement(token), number)
        case .digest(_, let summary): return actions(try zones[number].exchange.received(summary), number)
        case .reconcile(let step): return actions(try zones[number].exchange.received(step), number)
        case .resync(_, let round):
            return actions(try zones[number].exchange.receivedResync(round: round), number)
        case .refuse(let refuse):
            try zones[number].exchange.checkHasBegun()
            return refuse.names.isEmpty
                ? [] : [.noteRefused(zone: number, reason: refuse.reason, refuse.names)]
        default: return []
        }
    }

    private mutating func actions(_ actions: [ZoneExchange.Action], _ number: Int) -> [Session.Action] {
        actions.map { action in
            switch action {
            case .send(let message): return .send(message)
            case .checkRecords:
                // What follows compares everything, whoever has asked for it.
                zones[number].comparesEverything = false
                return .zone(number, action)
            default: return .zone(number, action)
            }
        }
    }

    // MARK: What the store says

    mutating func began(
        zone number: Int, at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64
    ) -> [Session.Action] {
        [
            .send(
                zones[number].exchange.begin(
                    at: token, isHeldTokenVoid: isHeldTokenVoid, recordCount: recordCount))
        ]
    }

    mutating func storeChanged(zone number: Int) { zones[number].exchange.storeChanged() }

    mutating func nextRequest(zone number: Int) -> ZoneExchange.Request? {
        zones[number].exchange.nextRequest()
    }

    mutating func batchRead(_ batch: ChangeBatch, zone number: Int) -> Message? {
        zones[number].exchange.batchRead(batch)
    }

    mutating func namedRead(_ records: [RecordState], zone number: Int) -> Message? {
        zones[number].exchange.namedRead(records)
    }

    mutating func summarized(_ summary: ZoneSummary, zone number: Int) -> [Session.Action] {
        actions(zones[number].exchange.summarized(summary), number)
    }

    /// Batches are durable.
    mutating func applied(_ batches: [ChangeBatch], zone number: Int) -> [Session.Action] {
        batches.flatMap { actions(zones[number].exchange.applied($0), number) }
    }

    mutating func recordsChecked(zone number: Int) -> [Session.Action] {
        actions(zones[number].exchange.recordsChecked(), number)
    }

    mutating func inventoryTaken(_ items: NegentropyVector, at token: ChangeToken, zone number: Int)
        throws(ProtocolError) -> [Session.Action]
    {
        actions(try zones[number].exchange.inventoryTaken(items, at: token), number)
    }

    mutating func resolved(_ names: [RecordName], zone number: Int) -> [Session.Action] {
        zones[number].differences.sent += names.sorted()
        return actions(zones[number].exchange.resolved(names), number)
    }

    /// The store has given a summary to hold against that of the other side.
    ///
    /// - Parameter isLeaving: nothing is begun any more.
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

    /// The store has noted that both sides hold the same.
    mutating func inSyncNoted(zone number: Int) { zones[number].notes -= 1 }
}

/// What a session goes by: which zones it has, with what rights, and how often this store has given up what it had. A
/// change of it ends the session.
package struct SessionGrants: Sendable, Equatable {
    private let zones: [ZoneID]
    private let rights: [ZoneRights]
    private let erasures: Int64

    package init(zones: [ZoneID], rights: [ZoneRights], erasures: Int64) {
        self.zones = zones
        self.rights = rights
        self.erasures = erasures
    }
}

/// The records that two machines found to differ when they compared all they hold.
public struct SyncDifferences: Sendable, Equatable {
    /// Those of which the other machine got this one's state, and the other way round. A record of which both had a state
    /// of their own is among both.
    public var sent: [RecordName] = []
    public var received: [RecordName] = []

    public init() {}
}
