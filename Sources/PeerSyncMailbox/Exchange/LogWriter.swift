import GRDB
import PeerSyncModel
import PeerSyncStore

/// Writes this machine's log of one zone (Protocol/mailbox.md section 5).
struct LogWriter {
    /// A log with more segments after its base than this gets a successor.
    static let maximumChanges = 512
    /// Changes of fewer bytes than this need no new log, however small the base is.
    static let smallestReplaced: Int64 = 256 << 10

    let context: MailboxContext
    let zone: Zone
    /// The peers that may read the zone.
    let readers: [ReplicaID]
    let views: [AuthorView]
    /// The logs of which the storage has lost something.
    let lost: Set<LogID>
    /// Whether it waits with changes that their own author may write soon.
    let mayWait: Bool

    /// What the log says now.
    struct Written: Sendable {
        let zone: OwnZone
        let log: OwnLog
        /// The digest of the zone when its last changes were read for the log: of all that the log covers, unless changes wait.
        var digest = ZoneDigest()
        /// Whether changes wait that their own author may write soon.
        var isWaiting = false
    }

    private var source: ZoneLog { ZoneLog(context.store, zone) }
    private var leavingOut: LeavingOut {
        LeavingOut(context: context, zone: zone, readers: readers, views: views)
    }

    func run(_ report: inout MailboxReport) async throws -> Written {
        let (own, current) = try await prepare()
        var log = current
        if !log.isComplete { try await writeBase(&log, &report) }
        if log.phase == .building {
            log = try await context.store.database.write { [log] db in
                var log = log
                try log.takePlace(db, now: context.store.now())
                return log
            }
        }
        return try await writeChanges(Written(zone: own, log: log), &report)
    }

    // MARK: Which log

    /// Why the log that the head names does not do any more.
    private enum Need {
        /// Another log, which readers may begin to read where they are.
        case another
        /// Another log, which all have to read from its beginning.
        case whole
        /// The same, and all tokens of before are void.
        case history
    }

    /// Finds the log to write to, or begins one.
    private func prepare() async throws -> (OwnZone, OwnLog) {
        try await context.store.database.write { db in
            _ = try context.store.fold(db)
            let known = try OwnZone.find(db, mailbox: context.mailbox, zone: zone.row)
            var own = known ?? OwnZone(mailbox: context.mailbox, zone)
            let logs = try OwnLog.all(db, mailbox: context.mailbox, zone: zone.row)
            let named = logs.first { $0.phase == .named }
            let begun = logs.first { $0.phase == .building }
            let hasReaderGone = !Set(own.readers).isSubset(of: readers)
            let isOtherZone = own.identity != zone.id.description
            // A log that was begun is finished: what it was begun for may be noted by now.
            let need =
                try isOtherZone ? .history : need(db, named, hasReaderGone) ?? begun.map { _ in .another }
            if need == .history { own.history = .random() }
            if hasReaderGone { own.fileEpoch = .random() }
            own.identity = zone.id.description
            own.readers = readers
            try own.save(db)
            if need == nil, let named { return (own, named) }
            // Nobody might read here for a while. Who may again would pass over what the log of then left out.
            let wasGivenUp = known != nil && named == nil && begun == nil
            let isUnread = named.map { $0.isWhole && !isReadByAll($0) } ?? false
            let isWhole =
                wasGivenUp || isUnread || need == .whole || need == .history || begun?.isWhole == true
            if let begun {
                let isGood =
                    try !hasReaderGone && !isOtherZone && !lost.contains(begun.log)
                    && (begun.isWhole || !isWhole)
                    && source.canGoOn(db, from: begun.token)
                if isGood { return (own, begun) }
                try discard(db, begun)
            }
            let log = OwnLog(
                mailbox: context.mailbox, zone: zone.row, isWhole: isWhole, token: try source.start(db).token)
            try log.save(db)
            // Readers pass over its base where they have read the one before.
            for (peer, history) in isWhole ? [:] : try named?.leftOut(db) ?? [:] {
                try log.noteLeftOut(db, peer, history)
            }
            return (own, log)
        }
    }

    private func need(_ db: Database, _ named: OwnLog?, _ hasReaderGone: Bool) throws -> Need? {
        guard let named else { return nil }
        if try !source.canGoOn(db, from: named.token) { return .history }
        let leftOut = try named.leftOut(db)
        if !leftOut.isEmpty {
            let candidates = try leavingOut.candidates(db)
            let isFit = leftOut.allSatisfy { peer, history in
                candidates.contains { $0.peer.id == peer && $0.history == history }
            }
            if !isFit { return .whole }
        }
        if hasReaderGone || lost.contains(named.log) { return .another }
        let isFull = named.segments >= MailboxLimits.segments && named.changes > 0
        let isLong =
            isFull || named.changes >= Self.maximumChanges
            || named.changeBytes > max(named.baseBytes, Self.smallestReplaced)
        // The log of before has what this machine overwrote and holds back; a new one would lack these records.
        return try isLong && !source.isAnyHeldBack(db) ? .another : nil
    }

    /// Whether all readers have read the base of a log, as their heads tell.
    private func isReadByAll(_ log: OwnLog) -> Bool {
        log.isComplete
            && readers.allSatisfy { reader in
                views.contains { view in
                    view.head.author.replica == reader
                        && view.segmentRead(of: log.log, by: context.own, in: zone) ?? -1 >= log.base
                }
            }
    }

    /// No head has named it, so nobody needs it.
    private func discard(_ db: Database, _ log: OwnLog) throws {
        var log = log
        log.phase = .replaced
        log.replacedAt = 0
        try log.save(db)
    }

    // MARK: Segments

    private func writeBase(_ log: inout OwnLog, _ report: inout MailboxReport) async throws {
        var place = ReadingPlace(log.token)
        while !log.isComplete {
            try Task.checkCancellation()
            guard log.segments < MailboxLimits.segments else {
                throw tooLarge
            }
            let (batch, next) = try await context.store.readFolded { [source, place] db in
                try source.batch(db, after: place, leavingOut: [])
            }
            place = next
            if batch.records.isEmpty, !batch.isLast {
                log.token = batch.token
            } else {
                log.append(batch, bytes: try await put(batch, log))
                report.segmentsPut += 1
            }
            try await context.store.database.write { [log] db in try log.save(db) }
        }
    }

    private func writeChanges(_ written: Written, _ report: inout MailboxReport) async throws -> Written {
        var log = written.log
        var digest = ZoneDigest()
        var isLast = false
        while !isLast {
            try Task.checkCancellation()
            let changes = try await nextChanges(log)
            digest = changes.digest
            if changes.mayComeFromOthers, mayWait {
                return Written(zone: written.zone, log: log, digest: digest, isWaiting: true)
            }
            let batch = changes.batch
            isLast = batch.isLast
            let from = log.token.sequence
            if batch.records.isEmpty {
                guard log.token != batch.token else { break }
                log.token = batch.token
            } else {
                guard log.segments < MailboxLimits.segments else {
                    // A log that this pass has filled, the next one replaces, if it can.
                    if written.log.segments == log.segments { throw try await reasonForNoSegment(log) }
                    break
                }
                log.append(batch, bytes: try await put(batch, log))
                report.segmentsPut += 1
            }
            try await context.store.database.write { [log, source] db in
                try log.save(db)
                let ids = changes.leftOut.map(\.peer.id)
                for peer in try source.sources(db, after: from, to: batch.token.sequence, among: ids) {
                    guard let entry = changes.leftOut.first(where: { $0.peer.id == peer }) else { continue }
                    try log.noteLeftOut(db, peer, entry.history)
                }
            }
        }
        return Written(zone: written.zone, log: log, digest: digest)
    }

    private var tooLarge: MailboxError {
        MailboxError(.invalid, "the zone “\(zone.name)” is too large for a mailbox")
    }

    /// Why a full log has no successor, so that nobody hears of changes. It is told, as nothing else would tell it.
    private func reasonForNoSegment(_ log: OwnLog) async throws -> MailboxError {
        let isAnyHeldBack = try await context.store.database.read { [source] db in
            try source.isAnyHeldBack(db)
        }
        guard log.changes > 0, isAnyHeldBack else { return tooLarge }
        return MailboxError(
            .invalid,
            "the log of the zone “\(zone.name)” is full, and gets no successor until somebody decides about what this machine holds back"
        )
    }

    private struct Changes: Sendable {
        let batch: ChangeBatch
        let digest: ZoneDigest
        let leftOut: [LeavingOut.Candidate]
        /// Whether all of its records have sources that write to the mailbox, and have not done so yet.
        let mayComeFromOthers: Bool
    }

    private func nextChanges(_ log: OwnLog) async throws -> Changes {
        try await context.store.readFolded { [source, leavingOut] db in
            let place = ReadingPlace(log.token)
            let candidates = try leavingOut.candidates(db)
            let covered = candidates.filter(\.isCovered)
            let batch = try source.batch(db, after: place, leavingOut: covered.map(\.peer.id)).batch
            var mayComeFromOthers = false
            if !batch.records.isEmpty, covered.count < candidates.count {
                let own = try source.batch(db, after: place, leavingOut: candidates.map(\.peer.id)).batch
                mayComeFromOthers = own.records.isEmpty && own.isLast
            }
            return Changes(
                batch: batch, digest: try source.digest(db), leftOut: covered,
                mayComeFromOthers: mayComeFromOthers)
        }
    }

    /// Puts the next segment of a log.
    ///
    /// - Returns: the number of its bytes.
    private func put(_ batch: ChangeBatch, _ log: OwnLog) async throws -> Int {
        let number = UInt64(log.segments + 1)
        let key = context.secrets.key(of: log.log)
        let bytes = Segment(zone: zone.id, batch: batch)
            .sealed(as: number, in: log.log, logKey: key, by: context.secrets)
        try await context.put(Segment.name(number, of: context.own.id, logKey: key), bytes)
        return bytes.count
    }
}
