import GRDB
import PeerSyncModel
import PeerSyncStore

/// Reads the log of one peer in one zone (Protocol/mailbox.md section 6).
struct LogReader {
    let context: MailboxContext
    let peer: Peer
    let head: OpenedHead
    let section: ZoneSection
    let zone: Zone

    /// How the reader stands before it reads.
    private struct Beginning {
        var reading: Reading?
        var received: ChangeToken?
        /// Whether the log may have deletions that the token covers, and that nobody has told.
        var lacksDeletions: Bool
    }

    /// What came of a visit to a log.
    struct Outcome {
        /// Whether a segment that the head names has not come yet.
        var isMissing = false
        /// Whether the head is older than what came over the network.
        var isBehind = false
        /// Whether the peer holds what this machine wrote before its store was set back to a backup.
        var tellsOfRestoring = false
    }

    /// Reads what is there.
    ///
    /// - Throws: ``DamagedObject`` and ``/PeerSyncStore/RecordStoreError`` about this peer; errors of the storage.
    func run(_ report: inout MailboxReport) async throws -> Outcome {
        var outcome = Outcome(tellsOfRestoring: try await acknowledge())
        guard var beginning = try await begin() else { return outcome }
        try checkExpiry(beginning)
        try await noteOtherHistory(beginning)
        if isSetBack(beginning) || isOfFormerHistory(beginning) {
            // It reads the log from its beginning.
            try await context.peerZone(zone, peer).write { try $0.voidReceived($1) }
            beginning = Beginning(lacksDeletions: false)
        }
        guard let first = try nextSegment(beginning) else {
            outcome.isBehind = true
            return outcome
        }
        var last = first - 1
        while last < section.segments {
            guard let segment = try await get(last + 1) else {
                // It goes on here when the missing one has come.
                outcome.isMissing = true
                return outcome
            }
            guard try await apply(segment.batch, last + 1, &report) else { return outcome }
            last += 1
            report.segmentsRead += 1
        }
        try await finish()
        return outcome
    }

    /// Notes what the peer has read of this machine.
    ///
    /// - Returns: whether it has read what this store never wrote.
    private func acknowledge() async throws -> Bool {
        let log = ZoneLog(context.store, zone)
        let read = section.read.first { $0.replica == context.own.replica }
        let (isNews, isRestored) = try await context.store.readFolded { db in
            guard let read, let token = read.token else { return (false, false) }
            let isMore = try log.acknowledged(db, by: peer) < token.sequence
            return (try isMore && log.canGoOn(db, from: token), try tellsOfRestoring(db, read, token))
        }
        if isNews, let token = read?.token {
            try await context.peerZone(zone, peer).write { try $0.acknowledge($1, token) }
        }
        return isRestored
    }

    /// Whether the peer holds a token of this machine's present history that this store never gave out, and the log goes on as if
    /// nothing had happened: the store was restored, and the storage has lost the heads that would tell it.
    private func tellsOfRestoring(
        _ db: Database, _ read: ZoneSection.Read, _ token: ChangeToken
    ) throws -> Bool {
        let log = ZoneLog(context.store, zone)
        guard try OwnZone.find(db, mailbox: context.mailbox, zone: zone.row)?.history == read.history,
            try log.isForeign(db, token)
        else { return false }
        return try OwnLog.all(db, mailbox: context.mailbox, zone: zone.row).contains {
            try $0.phase == .named && log.hasGivenOut(db, $0.token)
        }
    }

    /// - Returns: nil if the peer may not write here.
    private func begin() async throws -> Beginning? {
        let log = ZoneLog(context.store, zone)
        let peerZone = context.peerZone(zone, peer)
        return try await context.store.readFolded { db in
            guard try log.rights(db, of: peer) == .write else { return nil }
            // Refuses a peer that may hold records whose deletion this store has forgotten.
            _ = try peerZone.begin(
                db, heldByPeer: section.read.first { $0.replica == context.own.replica }?.token)
            return Beginning(
                reading: try Reading.find(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row),
                received: try log.received(db, from: peer),
                lacksDeletions: try log.compared(db, with: peer) > 0)
        }
    }

    /// Of records that came in another history, the peer's log may have none: this machine's own must not leave them out (section 5.3).
    private func noteOtherHistory(_ beginning: Beginning) async throws {
        guard beginning.reading?.history != section.history, let received = beginning.received,
            !section.hasGivenOut(received)
        else { return }
        try await context.peerZone(zone, peer).write { try $0.noteLoss($1) }
    }

    /// Whether the author was set back to a backup, and has written other segments since than this machine has read.
    private func isSetBack(_ beginning: Beginning) -> Bool {
        guard let reading = beginning.reading, reading.history == section.history,
            let received = beginning.received
        else { return false }
        let isSameLog = reading.log == section.log
        if isSameLog, reading.segment > section.segments { return true }
        // A token of an unfinished base may be of a copy in another order, and those are in no history.
        return (!isSameLog || reading.segment >= section.base) && section.disowns(received)
    }

    /// Whether the token is of a history that the author has ended, and the new one does not cover it.
    private func isOfFormerHistory(_ beginning: Beginning) -> Bool {
        guard let reading = beginning.reading, let received = beginning.received else { return false }
        return reading.history != section.history && !section.isCovered(received, by: section.covered)
    }

    private func checkExpiry(_ beginning: Beginning) throws {
        guard let received = beginning.received, received != .start,
            max(received.sequence, received.horizon) < section.forgotten
        else { return }
        throw RecordStoreError(
            .changeTokenExpired,
            "this machine was away from “\(peer.name)” for so long that deletions it has not seen are forgotten"
        )
    }

    /// The number of the segment to go on with (section 6.2).
    ///
    /// - Returns: nil as long as the head is older than what came over the network.
    private func nextSegment(_ beginning: Beginning) throws -> Int? {
        let isSameLog = beginning.reading?.log == section.log
        let start = isSameLog ? beginning.reading!.segment + 1 : 1
        guard let received = beginning.received, received != .start else { return start }
        guard isSameLog || !section.isWhole, !beginning.lacksDeletions else { return start }
        // Nothing counts as passed over: the author may have been set back to a backup.
        if beginning.reading?.history == section.history, received.sequence > section.covered.sequence {
            return nil
        }
        return max(start, (section.lastSegment(coveredBy: received) ?? 0) + 1)
    }

    private func get(_ number: Int) async throws -> Segment? {
        let name = Segment.name(UInt64(number), of: head.author.id, logKey: section.logKey)
        guard let object = try await context.storage.get(name) else { return nil }
        let segment = try Segment(
            object, number: UInt64(number), of: section.log, logKey: section.logKey, by: head.author,
            verificationKey: head.verificationKey)
        guard segment.zone == section.zone else { throw DamagedObject("a segment of another zone") }
        return segment
    }

    /// - Returns: false if the peer may not write here any more. Nothing is taken then, and the segment counts as not read.
    private func apply(_ batch: ChangeBatch, _ number: Int, _ report: inout MailboxReport) async throws
        -> Bool
    {
        let log = ZoneLog(context.store, zone)
        let peerZone = context.peerZone(zone, peer)
        let reading = Reading(history: section.history, log: section.log, segment: number)
        let applied = try await peerZone.applying { transaction -> Applied? in
            guard try log.rights(transaction.db, of: peer) == .write else { return nil }
            if number == 1 { try forgetRefusals(transaction.db) }
            let refusals = try peerZone.apply(batch, in: transaction)
            try reading.save(transaction.db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
            return Applied(
                refusals: refusals, arrived: transaction.arrived, withheld: transaction.withheldCount)
        }
        guard let applied else { return false }
        tell(applied, &report)
        return true
    }

    private struct Applied: Sendable {
        let refusals: [Refusal]
        let arrived: ArrivedChanges
        let withheld: Int
    }

    /// The log has all that the peer has: what this machine refuses of it, it refuses again. What came over the network and is newer
    /// than the head may not come again.
    private func forgetRefusals(_ db: Database) throws {
        let log = ZoneLog(context.store, zone)
        guard try log.received(db, from: peer)?.sequence ?? 0 <= section.covered.sequence else { return }
        try log.forgetRefusals(db, of: peer)
    }

    private func tell(_ applied: Applied, _ report: inout MailboxReport) {
        for refusal in applied.refusals {
            context.onEvent(.refusedRecords(machine: peer.name, refusal.names, refusal.reason.reason))
        }
        let name = zone.isDefault ? nil : zone.name
        if applied.withheld > 0 {
            context.onEvent(.withheld(machine: peer.name, zone: name, count: applied.withheld))
        }
        guard applied.arrived.count > 0 else { return }
        report.changes.append(applied.arrived)
        context.onEvent(.changed(machine: peer.name, zone: name, applied.arrived))
    }

    /// Takes the token of everything that the log covers.
    private func finish() async throws {
        guard section.isComplete else { return }
        let log = ZoneLog(context.store, zone)
        let peerZone = context.peerZone(zone, peer)
        let reading = Reading(history: section.history, log: section.log, segment: section.segments)
        let (received, compared, known) = try await context.store.database.read { db in
            (
                try log.received(db, from: peer), try log.compared(db, with: peer),
                try Reading.find(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
            )
        }
        let isNewer = received.map { $0.sequence > section.covered.sequence } ?? false
        let isDone = isNewer || received == section.covered
        let endsComparison = compared > 0 && compared <= section.covered.sequence
        guard !isDone || known != reading || endsComparison else { return }
        try await peerZone.applying { transaction in
            if !isDone {
                _ = try peerZone.apply(
                    ChangeBatch(records: [], token: section.covered, isLast: true), in: transaction)
            }
            try log.noteRead(transaction.db, from: peer, upTo: section.covered.sequence)
            try reading.save(transaction.db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
        }
    }
}
