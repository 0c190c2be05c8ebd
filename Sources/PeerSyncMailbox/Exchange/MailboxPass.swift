import GRDB
import PeerSyncModel
import PeerSyncStore

/// One pass over a mailbox: reads what others have put, and puts what they lack.
struct MailboxPass {
    /// What a running mailbox remembers from pass to pass.
    struct Memory: Sendable {
        var heads = HeadReader.Memory()
        /// Whether this run of the program has looked for what the storage has lost. It cannot while the last head is missing.
        var hasLookedForLost = false
        /// Whether it has looked for what a crash left.
        var hasSwept = false
        /// The zones of the last head, and what others said when it was made.
        var parts: [HeadWriter.Part] = []
        var views: [AuthorView] = []
        /// The peers whose new heads may tell of damaged objects, which no pass has looked at.
        var toldDamage: Set<Int64> = []
        /// When a pass last looked at what others had told of, in milliseconds since 1970.
        var heededDamageAt: Int64?
        /// Up to where the heads cover, of each peer's zone, to which this machine has said what it has beyond.
        var answered: [ZoneOfPeer: ChangeToken] = [:]
        /// Why files of others find no place here, as this run of the program has told.
        var filesWait: RecordStoreError.Code?
        /// Since when changes of others wait that their authors may write, in milliseconds since 1970.
        var waitingSince: Int64?
    }

    struct ZoneOfPeer: Hashable, Sendable {
        let peer: Int64
        let zone: Int64
    }

    /// The longest time for which changes of others wait, in milliseconds.
    static let longestWait: Int64 = 10 * 60 * 1000

    /// How long damage that others tell of waits after the last that they told of, in milliseconds: where a storage damages all that is put,
    /// two machines would otherwise answer each other for ever.
    static let damageInterval: Int64 = 3600 * 1000

    /// The errors of writing with which it reads on.
    private static let onlyWriting: Set<MailboxError.Code> = [.readOnly, .full, .sameIdentity, .invalid]

    let context: MailboxContext
    /// Whether the program goes on after this pass: changes of others may then wait for their authors.
    let mayWait: Bool

    func run(_ memory: inout Memory) async throws -> MailboxReport {
        // A program may have ended before it made files of what somebody wrote into a column.
        try await context.store.assets.storeFilesIfPossible()
        let reader = HeadReader(context: context, goesOn: mayWait)
        var heads = try await reader.run(&memory.heads)
        let standing = try await OwnStanding(context, heads)
        // What the household says decides who reads and writes. Whoever it introduces may have a head here, which may introduce others.
        while try await takeHouseholds(heads.views) {
            let new = heads.new
            heads = try await reader.run(&memory.heads)
            heads.new.formUnion(new)
        }
        let zones = try await context.store.database.read { try context.store.zones.all($0) }
        memory.toldDamage.formUnion(heads.new)
        var found = Found(problems: heads.problems)
        for view in heads.views {
            try await read(view, amongst: heads.views, zones, &found)
        }
        try await RelayedAcknowledgement(context: context, views: heads.views).run(zones)
        var failure: MailboxError?
        do {
            try await write(standing, heads, zones, &found, &memory)
        } catch let error as MailboxError where Self.onlyWriting.contains(error.code) {
            // Who cannot write there reads on.
            failure = error
        }
        // Last, because they may take long: nobody waits for what this machine has written until then.
        try await fetchFiles(heads, zones, &found, &memory)
        try await found.problems.tell(context)
        if let failure { throw failure }
        // What it wants, and what it could not open, may have changed.
        let head = HeadWriter(context: context, views: heads.views, damaged: found.problems.damaged)
        if try await head.run(memory.parts, isDue: false) { found.report.hasPutHead = true }
        return found.report
    }

    // MARK: Reading

    /// What reading has brought.
    private struct Found {
        var report = MailboxReport()
        var problems: ReadingProblems
        /// Whether others hold what this machine wrote before its store was set back to a backup.
        var tellsOfRestoring = false
        /// The heads that are older than what came over the network, each with up to where it covers.
        var behind: [ZoneOfPeer: ChangeToken] = [:]
    }

    /// Whether an author has put a head that is older than what came over the network, and was not answered yet. It may not know that it
    /// was set back to a backup, and sees it in what this machine has.
    private func isAnswerDue(
        _ behind: [ZoneOfPeer: ChangeToken], _ heads: HeadReader.Heads, _ memory: inout Memory
    ) -> Bool {
        let new = behind.filter { heads.new.contains($0.key.peer) && memory.answered[$0.key] != $0.value }
        memory.answered.merge(new) { $1 }
        return !new.isEmpty
    }

    private func takeHouseholds(_ views: [AuthorView]) async throws -> Bool {
        var isNew = false
        // Also of heads that are not new: a pass that failed may have got one and taken nothing of it.
        for view in views {
            guard let household = view.head.household else { continue }
            let change = try await context.store.household.take(
                household, from: view.peer, own: context.own.key)
            for machine in change.introduced {
                context.onEvent(.introduced(machine: machine.name, by: machine.by))
            }
            for machine in change.removed { context.onEvent(.removed(machine: machine.name, by: machine.by)) }
            isNew = isNew || !change.introduced.isEmpty || !change.removed.isEmpty
        }
        return isNew
    }

    /// Reads what a peer has put. What is wrong with it keeps nobody from reading others.
    private func read(
        _ view: AuthorView, amongst views: [AuthorView], _ zones: [Zone], _ found: inout Found
    ) async throws {
        try await RefusalReader(context: context, view: view).run(zones)
        for section in view.head.zones.map(\.section) {
            guard let zone = zones.first(where: { $0.id == section.zone }) else { continue }
            let reader = LogReader(
                context: context, peer: view.peer, head: view.head, section: section, zone: zone, views: views
            )
            do {
                let outcome = try await reader.run(&found.report)
                found.tellsOfRestoring = found.tellsOfRestoring || outcome.tellsOfRestoring
                if outcome.isBehind {
                    found.behind[ZoneOfPeer(peer: view.peer.id, zone: zone.row)] = section.covered
                }
                if let name = outcome.missing {
                    found.problems.note(missing: name, of: view, in: zone, now: context.store.now())
                }
            } catch let damage as DamagedObject {
                found.problems.note(damage, of: view.peer, in: zone)
            } catch let error as RecordStoreError {
                guard let code = error.codeOfPeer else { throw error }
                found.problems.note(MailboxError(code, error.message, underlying: error), of: view.peer)
            }
        }
    }

    private func fetchFiles(
        _ heads: HeadReader.Heads, _ zones: [Zone], _ found: inout Found, _ memory: inout Memory
    ) async throws {
        let files = FileExchange(context: context, views: heads.views)
        let waiting = try await files.fetch(zones, &found.report, &found.problems)
        if let waiting, memory.filesWait != waiting.error.code {
            context.onEvent(.filesWait(machine: waiting.machine, waiting.error))
        }
        memory.filesWait = waiting?.error.code
    }

    // MARK: Writing

    private func write(
        _ standing: OwnStanding, _ heads: HeadReader.Heads, _ zones: [Zone], _ found: inout Found,
        _ memory: inout Memory
    ) async throws {
        guard !standing.isTwin else { throw OwnStanding.twin }
        if found.tellsOfRestoring { try await standing.noteRestored(context) }
        let isHeadDue = isAnswerDue(found.behind, heads, &memory)
        let (lost, hasLooked) = try await lostObjects(standing, heads, &memory)
        var parts: [HeadWriter.Part] = []
        var isWaiting = false
        let now = context.store.now()
        // A clock that was ahead once must not put it off for long.
        let mayWait = mayWait && (0..<Self.longestWait).contains(now - (memory.waitingSince ?? now))
        for zone in zones {
            let readers = try await readers(of: zone)
            guard !readers.isEmpty else {
                try await giveUp(zone)
                continue
            }
            let writer = LogWriter(
                context: context, zone: zone,
                readers: readers.map { ReplicaID(hashing: $0.peer.publicKey) }.sorted(),
                views: heads.views, lost: lost.logs, mayWait: mayWait)
            let written = try await writer.run(&found.report)
            isWaiting = isWaiting || written.isWaiting
            parts.append(HeadWriter.Part(zone: zone, written: written, readers: readers))
        }
        memory.waitingSince = isWaiting ? memory.waitingSince ?? now : nil
        found.report.waitsUntil = memory.waitingSince.map { $0 + Self.longestWait }
        memory.parts = parts
        memory.views = heads.views
        var head = HeadWriter(context: context, views: heads.views, damaged: found.problems.damaged)
        head.knowsAllDamage = false
        var hasPut = try await head.run(
            parts, isDue: standing.needsHead || isHeadDue || lost.isHeadDamaged)
        let files = FileExchange(context: context, views: heads.views)
        for part in parts { try await files.put(part, &found.report) }
        // Now the files that it offers are there.
        if found.report.filesPut > 0, try await head.run(parts, isDue: false) { hasPut = true }
        found.report.hasPutHead = hasPut
        // The next pass finds this one, and no more that the last one was lost: then segments may be, too.
        if hasPut, standing.isHeadMissing { memory.hasLookedForLost = false }
        try await cleanUp(heads, parts, hasPutHead: hasPut, &memory)
        // Not before: what was found lost is put anew by then.
        if hasLooked { memory.hasLookedForLost = true }
    }

    /// - Returns: what this machine has to put anew, because the storage has lost or damaged it; and whether it has looked.
    private func lostObjects(
        _ standing: OwnStanding, _ heads: HeadReader.Heads, _ memory: inout Memory
    ) async throws -> (LostObjects.Found, hasLooked: Bool) {
        let isHeadLost = try await standing.prepare(context)
        let objects = LostObjects(context: context)
        if !standing.isHeadMissing {
            if try await objects.removeDamagedIfDue() { memory.hasLookedForLost = false }
            try await heedDamage(heads, &memory)
        }
        guard isHeadLost || (!memory.hasLookedForLost && !standing.isHeadMissing) else {
            return (LostObjects.Found(), false)
        }
        let lost = try await objects.find(isHeadLost: isHeadLost)
        if isHeadLost || !lost.logs.isEmpty { context.onEvent(.ownObjectsLost) }
        return (lost, true)
    }

    /// Looks at the objects of this machine that others could not open, as their new heads tell.
    private func heedDamage(_ heads: HeadReader.Heads, _ memory: inout Memory) async throws {
        let now = context.store.now()
        if let last = memory.heededDamageAt, (0..<Self.damageInterval).contains(now - last) { return }
        let sections = heads.views.filter { memory.toldDamage.contains($0.peer.id) }.flatMap(\.head.zones)
        let told = Set(
            sections.flatMap(\.section.damaged).filter { $0.replica == context.own.replica }.map(\.object))
        if !told.isEmpty {
            try await LostObjects(context: context).removeDamaged(told)
            memory.hasLookedForLost = false
            memory.heededDamageAt = now
        }
        memory.toldDamage = []
    }

    private func readers(of zone: Zone) async throws -> [(peer: Peer, rights: ZoneRights)] {
        try await context.store.database.read { db in
            try context.store.peers.all(db).compactMap { peer in
                let rights = try ZoneLog(context.store, zone).rights(db, of: peer)
                return rights == .none ? nil : (peer, rights)
            }
        }
    }

    /// Gives up what this machine has put of a zone that nobody may read any more; the clean-up removes it.
    private func giveUp(_ zone: Zone) async throws {
        let isAny = try await context.store.database.read { db in
            try !OwnLog.all(db, mailbox: context.mailbox, zone: zone.row).isEmpty
        }
        guard isAny else { return }
        try await context.store.database.write { db in
            try OwnLog.giveUpAll(db, mailbox: context.mailbox, zone: zone.row)
            for file in try OwnFile.all(db, mailbox: context.mailbox, zone: zone.row) { try file.delete(db) }
        }
    }

    private func cleanUp(
        _ heads: HeadReader.Heads, _ parts: [HeadWriter.Part], hasPutHead: Bool,
        _ memory: inout Memory
    ) async throws {
        // Otherwise others would look at them, and not at this machine's heads.
        for name in heads.strays { try await context.storage.delete(name) }
        let cleanUp = CleanUp(context: context, views: heads.views)
        let published = try await context.store.database.read { try context.published($0) }
        // Where the last one is missing, an older one is better than none.
        if hasPutHead || heads.own.contains(published) {
            try await cleanUp.removeHeads(heads.own, but: published)
        }
        let hasRemoved = try await cleanUp.removeLogs(parts)
        guard hasRemoved || !memory.hasSwept else { return }
        try await cleanUp.sweep()
        memory.hasSwept = true
    }
}

extension RecordStoreError {
    /// What it is in a mailbox, if the reason lies in what a peer has put, or in what the two machines are for each other; nil otherwise.
    fileprivate var codeOfPeer: MailboxError.Code? {
        switch code {
        case .clockSkew: .clockSkew
        case .changeTokenExpired: .away
        case .invalidRecord: .invalid
        case .notPermitted, .noSuchPeer, .removed: .notShared
        case .invalidSchema, .tableMismatch, .newerFormat, .corrupt, .damagedRecord, .noSuchRecord,
            .deletionDenied, .noSuchZone, .otherZone, .sharedZone, .zonesChanged, .backupFailed,
            .tooManyAttempts, .householdFull, .unreadableFile, .invalidValue, .noSpace, .assetUnwritable,
            .notDeleted, .ambiguous, .heldRecords:
            nil
        // ErrorCodeTests find no other.
        default: nil
        }
    }
}
