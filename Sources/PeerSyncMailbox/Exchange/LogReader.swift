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
    /// What all say there. A newcomer that a check makes has nothing that they could acknowledge.
    var views: [AuthorView] = []

    private var log: ZoneLog { ZoneLog(context.store, zone) }
    private var peerZone: PeerZone { context.peerZone(zone, peer) }

    /// How far the reader is. A session may change that at any moment.
    private struct Standing {
        var reading: Reading?
        var received: ChangeToken?
        /// Up to this number, the log may have deletions that the token covers, and that nobody has told; 0 if there are none.
        var compared: Int64 = 0
    }

    /// What came of a visit to a log.
    struct Outcome {
        /// A segment that the head names, and that has not come yet.
        var missing: MailboxObjectName?
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
        guard var standing = try await begin() else { return outcome }
        try checkExpiry(standing)
        try await noteOtherHistory(standing)
        // A base that is not finished is for later.
        guard section.isComplete else { return outcome }
        let isSetBack = isSetBack(standing)
        if isSetBack || isOfFormerHistory(standing) {
            // It reads the log from its beginning.
            try await peerZone.write {
                if isSetBack { try $0.voidReceived($1) } else { try $0.forgetReceived($1) }
            }
            standing = Standing()
        }
        guard let first = nextSegment(standing) else {
            outcome.isBehind = true
            return outcome
        }
        guard try await passOver(upTo: first - 1, &standing) else { return outcome }
        var last = first - 1
        while last < section.segments {
            guard let segment = try await get(last + 1) else {
                // It goes on here when the missing one has come.
                outcome.missing = name(of: last + 1)
                return outcome
            }
            guard try await apply(segment.batch, last + 1, &standing, &report) else { return outcome }
            last += 1
            report.segmentsRead += 1
        }
        try await finish(standing)
        return outcome
    }

    /// Notes what the peer has read of this machine.
    ///
    /// - Returns: whether it has read what this store never wrote.
    private func acknowledge() async throws -> Bool {
        let read = section.read.first { $0.replica == context.own.replica }
        let held = HeldChanges(context: context, zone: zone, views: views)
        let (token, isRestored) = try await context.store.readFolded { db -> (ChangeToken?, Bool) in
            guard let read, var token = read.token else { return (nil, false) }
            let isRestored = try tellsOfRestoring(db, read, token)
            let known = try log.acknowledged(db, by: peer)
            guard known < token.sequence, try log.canGoOn(db, from: token) else { return (nil, isRestored) }
            token.sequence = try held.end(db, of: token, read, by: peer, section)
            return (known < token.sequence ? token : nil, isRestored)
        }
        if let token { try await peerZone.write { try $0.acknowledge($1, token) } }
        return isRestored
    }

    /// Whether the peer holds a token of this machine's present history that this store never gave out, and the log goes on as if
    /// nothing had happened: the store was restored, and the storage has lost the heads that would tell it.
    private func tellsOfRestoring(
        _ db: Database, _ read: ZoneSection.Read, _ token: ChangeToken
    ) throws -> Bool {
        guard try OwnZone.find(db, mailbox: context.mailbox, zone: zone.row)?.history == read.history,
            try log.isForeign(db, token)
        else { return false }
        return try OwnLog.all(db, mailbox: context.mailbox, zone: zone.row).contains {
            try $0.phase == .named && log.hasGivenOut(db, $0.token)
        }
    }

    /// - Returns: nil if the peer may not write here.
    private func begin() async throws -> Standing? {
        try await context.store.readFolded { db in
            guard try log.rights(db, of: peer) == .write else { return nil }
            // Refuses a peer that may hold records whose deletion this store has forgotten.
            _ = try peerZone.begin(
                db, heldByPeer: section.read.first { $0.replica == context.own.replica }?.token)
            return try standing(db)
        }
    }

    private func standing(_ db: Database) throws -> Standing {
        Standing(
            reading: try Reading.find(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row),
            received: try log.received(db, from: peer),
            compared: try log.compared(db, with: peer))
    }

    /// Of records that came in another history, the peer's log may have none: this machine's own must not leave them out (section 5.3).
    private func noteOtherHistory(_ standing: Standing) async throws {
        guard standing.reading?.history != section.history, let received = standing.received,
            !section.hasGivenOut(received)
        else { return }
        try await peerZone.write { try $0.noteLoss($1) }
    }

    /// Whether the author was set back to a backup, and has written other segments since than this machine has read.
    private func isSetBack(_ standing: Standing) -> Bool {
        guard let reading = standing.reading, reading.history == section.history,
            let received = standing.received
        else { return false }
        let isSameLog = reading.log == section.log
        if isSameLog, reading.segment > section.segments { return true }
        // A token of an unfinished base may be of a copy in another order, and those are in no history.
        return (!isSameLog || reading.segment >= section.base) && section.disowns(received)
    }

    /// Whether the token is of a history that the author has ended, and the new one does not cover it.
    private func isOfFormerHistory(_ standing: Standing) -> Bool {
        guard let reading = standing.reading, let received = standing.received else { return false }
        return reading.history != section.history && !section.isCovered(received, by: section.covered)
    }

    private func checkExpiry(_ standing: Standing) throws {
        guard let received = standing.received, received != .start,
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
    private func nextSegment(_ standing: Standing) -> Int? {
        let isSameLog = standing.reading?.log == section.log
        let start = isSameLog ? standing.reading!.segment + 1 : 1
        guard let received = standing.received, received != .start else { return start }
        guard isSameLog || !section.isWhole, standing.compared == 0 else { return start }
        if received.sequence > section.covered.sequence {
            // Nothing counts as passed over: the author may have been set back to a backup.
            return standing.reading?.history == section.history ? nil : start
        }
        return max(start, (section.lastSegment(coveredBy: received) ?? 0) + 1)
    }

    /// Notes what the reader passes over, before it goes on: if it gives that up meanwhile, the note goes, too.
    ///
    /// - Returns: false if it has given that up already.
    private func passOver(upTo segment: Int, _ standing: inout Standing) async throws -> Bool {
        let reading = Reading(history: section.history, log: section.log, segment: segment)
        guard segment > 0, standing.reading != reading else { return true }
        let now = try await context.store.database.write { [standing] db -> Standing? in
            let now = try self.standing(db)
            guard !hasGoneBack(now, since: standing) else { return nil }
            try reading.save(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
            return try self.standing(db)
        }
        guard let now else { return false }
        standing = now
        return true
    }

    private func name(of number: Int) -> MailboxObjectName {
        Segment.name(UInt64(number), of: head.author.id, logKey: section.logKey)
    }

    private func get(_ number: Int) async throws -> Segment? {
        let name = name(of: number)
        guard let object = try await context.get(name) else { return nil }
        return try DamagedObject.naming(name) { () throws(DamagedObject) in
            let segment = try Segment(
                object, number: UInt64(number), of: section.log, logKey: section.logKey, by: head.author,
                verificationKey: head.verificationKey,
                end: Segment.end(of: number, base: section.base, section.ends))
            guard segment.zone == section.zone else { throw DamagedObject("a segment of another zone") }
            return segment
        }
    }

    /// - Returns: false if nothing was taken, and the segment counts as not read: the peer may not write here any more, or a session has
    ///   made this machine forget how far it had read.
    private func apply(
        _ batch: ChangeBatch, _ number: Int, _ standing: inout Standing, _ report: inout MailboxReport
    ) async throws -> Bool {
        let reading = Reading(history: section.history, log: section.log, segment: number)
        let applied = try await peerZone.applying { [standing] transaction -> Applied? in
            let db = transaction.db
            let now = try self.standing(db)
            guard try log.rights(db, of: peer) == .write, !hasGoneBack(now, since: standing) else {
                return nil
            }
            if number == 1 { try forgetRefusals(db, now.received) }
            let refusals = try peerZone.apply(
                ChangeBatch(
                    records: batch.records, token: newer(batch.token, now.received), isLast: batch.isLast),
                in: transaction)
            try reading.save(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
            return Applied(
                refusals: refusals, arrived: transaction.arrived, withheld: transaction.withheldCount,
                standing: try self.standing(db))
        }
        guard let applied else { return false }
        standing = applied.standing
        tell(applied, &report)
        return true
    }

    /// Whether this machine has forgotten, since it last looked, how far it had read: it may lack what the next segments build on.
    private func hasGoneBack(_ now: Standing, since standing: Standing) -> Bool {
        now.reading != standing.reading
            || now.received?.sequence ?? 0 < standing.received?.sequence ?? 0
    }

    /// The received token after a segment. A session may have brought this machine further than the segment does, and the two sides of
    /// a session wait for each other while the token is one that the peer does not expect.
    private func newer(_ token: ChangeToken, _ received: ChangeToken?) -> ChangeToken {
        guard let received, received.sequence >= token.sequence else { return token }
        // A whole copy gives the number of its end to each of its parts.
        return received.sequence > token.sequence || section.hasGivenOut(received) ? received : token
    }

    private struct Applied: Sendable {
        let refusals: [Refusal]
        let arrived: ArrivedChanges
        let withheld: Int
        /// How far the reader is after the segment.
        let standing: Standing
    }

    /// The log has all that the peer has: what this machine refuses of it, it refuses again. What came over the network and is newer
    /// than the head may not come again.
    private func forgetRefusals(_ db: Database, _ received: ChangeToken?) throws {
        guard received?.sequence ?? 0 <= section.covered.sequence else { return }
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
    private func finish(_ standing: Standing) async throws {
        let covered = section.covered
        let reading = Reading(history: section.history, log: section.log, segment: section.segments)
        let endsComparison = standing.compared > 0 && standing.compared <= covered.sequence
        guard
            endsComparison || standing.reading != reading
                || standing.received != newer(covered, standing.received)
        else { return }
        try await peerZone.applying { transaction in
            let now = try self.standing(transaction.db)
            guard !hasGoneBack(now, since: standing) else { return }
            let token = newer(covered, now.received)
            if now.received != token {
                _ = try peerZone.apply(ChangeBatch(records: [], token: token, isLast: true), in: transaction)
            }
            try log.noteRead(transaction.db, from: peer, upTo: covered.sequence)
            try reading.save(transaction.db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
        }
    }
}
