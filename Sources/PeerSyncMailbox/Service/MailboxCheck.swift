import Foundation
import GRDB
import PeerSync
import PeerSyncModel
import PeerSyncStore

/// What a check of a mailbox found.
public struct MailboxCheck: Sendable {
    /// What a newcomer could make of one zone.
    public struct Zone: Sendable, Equatable {
        /// The name of the zone here; nil for the default one.
        public let name: String?
        /// The live records that the newcomer has.
        public let records: Int
        /// Whether these are the records of this store.
        public let isEqual: Bool
    }

    /// The zones that the mailbox has.
    public internal(set) var zones: [Zone] = []
    /// The segments that were read.
    public internal(set) var segments = 0
    /// The files that were read, and are as their names say.
    public internal(set) var files = 0
    /// What is wrong, one sentence for each.
    public internal(set) var problems: [String] = []
    /// Why this machine reads nothing more of other machines there, by their names: they let it do nothing any more.
    public internal(set) var unread: [String: MailboxError] = [:]

    /// Whether a newcomer could be made from the mailbox, with all that this store has, and nothing is wrong.
    public var isSound: Bool { problems.isEmpty && unread.isEmpty && isComplete }

    /// Whether a newcomer could be made from the mailbox, with all that this store has. Not if nobody may read there: then nothing is there.
    public var isComplete: Bool { !zones.isEmpty && zones.allSatisfy(\.isEqual) }
}

extension Mailbox {
    /// Syncs, then reads everything that lies in the mailbox for this machine, and proves that a newcomer could be made from it: it makes a
    /// store of it, in a temporary file that has no name, and compares the digests. What lies there damaged of this machine it removes: the next sync puts it
    /// anew.
    ///
    /// - Throws: ``MailboxError``, also what ``syncOnce()`` throws.
    public func check() async throws -> MailboxCheck {
        try await turns.take { [self] memory in
            _ = try await pass(mayWait: false, &memory)
            var check = MailboxCheck()
            for machine in try await engine.store.mailboxes.find(name).machines {
                guard let error = machine.error, error.code == .notShared else { continue }
                check.unread[machine.name] = error
            }
            // What this machine and others said in that pass: what comes meanwhile is not looked at.
            let (parts, views) = (memory.parts, memory.views)
            let own = try await HeadWriter(context: context, views: views).make(parts)
            try await checkHeads(views, &check)
            for (part, section) in zip(parts, own.zones) {
                try await checkZone(part, section, views, &check)
                try await checkFiles(part.zone, section, by: context.own, named: nil, &check)
                for view in views {
                    guard let theirs = view.head.zone(part.zone.id) else { continue }
                    try await checkFiles(
                        part.zone, theirs, by: view.head.author, named: view.peer.name, &check)
                }
            }
            if !check.problems.isEmpty || !check.isComplete {
                // The next sync looks for what is gone.
                memory.hasLookedForLost = false
                try await LostObjects(context: context).removeDamaged()
            }
            return check
        }
    }

    /// A newcomer reads nothing of a machine whose last head is gone or damaged, although this machine remembers it.
    ///
    /// - Parameter views: what others say there, without those who have taken all of theirs away.
    private func checkHeads(_ views: [AuthorView], _ check: inout MailboxCheck) async throws {
        let (known, published) = try await engine.store.database.read { [context] db in
            (try KnownAuthor.all(db, mailbox: context.mailbox), try context.published(db))
        }
        if published > 0, try await !context.has(context.own.id.headName(UInt64(published))) {
            check.problems.append("the last head of this machine is not there")
            try await OwnStanding.endPatience(context)
        } else if try await LostObjects(context: context).isHeadDamaged() {
            check.problems.append("the last head of this machine is damaged")
            // A program that uses the mailbox all the time looks, too.
            try await context.store.database.write { [context] in
                try LostObjects(context: context).setChecked($0, at: 0)
            }
        }
        let listed = try await storage.list(MailboxFormat.heads).compactMap { AuthorID.parse($0.name) }
        for author in known {
            // It may have put another one since the pass.
            let isLast = !listed.contains { $0.author == author.author && $0.counter > author.counter }
            guard isLast, let peer = views.first(where: { $0.peer.id == author.peer })?.peer else { continue }
            let name = author.author.headName(UInt64(author.counter))
            let bytes: [UInt8]?
            do { bytes = try await context.get(name) } catch is DamagedObject { bytes = [] }
            guard bytes != author.head else { continue }
            check.problems.append(
                "the last head of \(peer.name) is \(bytes == nil ? "not there" : "damaged")")
        }
    }

    private func checkZone(
        _ part: HeadWriter.Part, _ own: ZoneSection, _ views: [AuthorView], _ check: inout MailboxCheck
    ) async throws {
        // SQLite makes a file for it that only this user can read, and removes its name at once: whatever ends the program, nothing stays.
        let newcomer = try RecordStore(
            DatabaseQueue(path: ""), schema: RecordSchema([]),
            replica: Identity.generate().replicaID)
        let entry = try await newcomer.mailboxes.add("check", location: "")
        try await newcomer.database.write { try newcomer.zones.adopt($0, part.zone.id) }
        let context = context.reading(into: newcomer, entry.id)
        let ownHead = OpenedHead(
            author: context.own, counter: 0, verificationKey: context.secrets.verificationKey, time: 0,
            zones: [OpenedHead.Zone(section: own, rights: .write)], household: nil)
        var sources: [(name: String, key: [UInt8], head: OpenedHead, section: ZoneSection)] = [
            ("this machine", context.own.key, ownHead, own)
        ]
        for view in views {
            guard let section = view.head.zone(part.zone.id),
                try await engine.store.database.read({ [source = ZoneLog(engine.store, part.zone)] in
                    try source.rights($0, of: view.peer)
                }) == .write
            else { continue }
            sources.append((view.peer.name, view.peer.publicKey, view.head, section))
        }
        for source in sources {
            let peer = try await newcomer.peers.add(key: source.key, name: source.name)
            let zone = try await newcomer.zones.all()[0]
            var report = MailboxReport()
            do {
                let outcome = try await LogReader(
                    context: context, peer: peer, head: source.head, section: source.section, zone: zone
                ).run(&report)
                if outcome.missing != nil {
                    check.problems.append("segment \(report.segmentsRead + 1) of \(source.name) is not there")
                }
            } catch let error as MailboxError {
                throw error
            } catch {
                check.problems.append("\(source.name): \(error)")
            }
            check.segments += report.segmentsRead
        }
        let digest = try await newcomer.zones.all()[0].digest
        check.zones.append(
            MailboxCheck.Zone(
                name: part.zone.isDefault ? nil : part.zone.name, records: Int(digest.count),
                isEqual: digest == own.digest))
    }

    private func checkFiles(
        _ zone: Zone, _ section: ZoneSection, by author: Author, named name: String?,
        _ check: inout MailboxCheck
    ) async throws {
        for file in section.offered {
            let key = section.fileKeys[file.key]
            var hasher = AssetHasher()
            do {
                for piece in 0..<FilePiece.count(file.size) {
                    let name = FilePiece.name(piece, of: file.hash, by: author.id, fileKey: key.key)
                    guard let object = try await context.get(name) else {
                        throw DamagedObject("a piece that is not there")
                    }
                    let bytes = try FilePiece.open(
                        object, piece, of: file.hash, in: key.epoch, fileKey: key.key, by: author)
                    bytes.withUnsafeBytes { hasher.update($0) }
                }
                guard hasher.finish() == file.hash else {
                    throw DamagedObject("other bytes than its name says")
                }
                check.files += 1
            } catch let damage as DamagedObject {
                check.problems.append("\(name ?? "this machine"): the file \(file.hash): \(damage)")
            }
        }
    }
}

extension MailboxContext {
    /// Reads the same objects into another store.
    fileprivate func reading(into store: RecordStore, _ mailbox: Int64) -> MailboxContext {
        MailboxContext(
            store: store, secrets: secrets, storage: storage, mailbox: mailbox, allowedSkew: .max / 2,
            onEvent: { _ in })
    }
}
