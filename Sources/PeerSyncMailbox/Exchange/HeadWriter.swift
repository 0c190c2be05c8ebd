import Foundation
import GRDB
import NIOCore
import PeerSyncModel
import PeerSyncStore

/// Makes this machine's head, and puts it when it says something new (Protocol/mailbox.md sections 3 and 5.2).
struct HeadWriter {
    let context: MailboxContext
    let views: [AuthorView]
    /// What this pass found damaged of others.
    var damaged: [ReadingProblems.Damaged] = []
    /// Whether ``damaged`` has all that is. As long as files were not fetched, that the list changes is no reason for a head.
    var knowsAllDamage = true

    /// A zone of the head, and its readers.
    struct Part: Sendable {
        let zone: Zone
        let written: LogWriter.Written
        let readers: [(peer: Peer, rights: ZoneRights)]
    }

    /// Puts a new head, unless the last one says the same.
    ///
    /// - Parameter isDue: puts it in any case.
    /// - Returns: whether it has put one.
    func run(_ parts: [Part], isDue: Bool) async throws -> Bool {
        let head = try await make(parts)
        let content = Self.content(of: head)
        guard let counter = try await reserve(content, isDue: isDue) else { return false }
        let bytes = HeadCodec.seal(head, counter: UInt64(counter), by: context.secrets)
        try await context.put(context.own.id.headName(UInt64(counter)), bytes)
        try await context.store.database.write { db in
            try db.execute(
                sql:
                    "UPDATE grdb_sync_mailbox SET published = ?, content = ?, headHash = ?, missing = 0 WHERE id = ?",
                arguments: [counter, Data(content), Data(Self.hash(of: bytes)), context.mailbox])
        }
        return true
    }

    /// Takes the next counter, durably: after a crash, or a loss of power, nobody can know whether a head has it. It is the clock's, as long as that goes
    /// on: a store that was restored then goes beyond the counters that it does not know, also if the storage has lost those heads.
    ///
    /// - Returns: nil when the last head says the same.
    private func reserve(_ content: [UInt8], isDue: Bool) async throws -> Int64? {
        let last = try await context.store.database.read { db in
            try Data.fetchOne(
                db, sql: "SELECT content FROM grdb_sync_mailbox WHERE id = ?", arguments: [context.mailbox])
        }
        let length = knowsAllDamage ? content.count : Self.hashLength
        guard isDue || last?.prefix(length) != Data(content.prefix(length)) else { return nil }
        return try await context.store.writeDurably { db in
            try Int64.fetchOne(
                db,
                sql:
                    "UPDATE grdb_sync_mailbox SET counter = MAX(counter + 1, ?) WHERE id = ? RETURNING counter",
                arguments: [context.store.now(), context.mailbox])
        }
    }

    // MARK: Making

    /// Makes what this machine has to say now.
    func make(_ parts: [Part]) async throws -> Head {
        let wanted = try await wantedFiles(parts.map(\.zone))
        return try await context.store.readFolded { db in
            let sections = try parts.map { try section(db, $0, wanted: wanted[$0.zone.row] ?? []) }
            var rights: [Int64: [Int: ZoneRights]] = [:]
            for (index, part) in parts.enumerated() {
                for reader in part.readers { rights[reader.peer.id, default: [:]][index] = reader.rights }
            }
            let household = try context.store.household.set(db)
            let readers = try context.store.peers.all(db).compactMap { peer -> Head.Reader? in
                guard let rights = rights[peer.id] else { return nil }
                return Head.Reader(
                    key: peer.publicKey, rights: rights,
                    hasHousehold: try context.store.household.shared(db, with: peer).share != .nothing)
            }
            return Head(
                time: context.store.now(), zones: sections,
                household: readers.contains(where: \.hasHousehold) ? household : nil, readers: readers)
        }
    }

    private func section(_ db: Database, _ part: Part, wanted: [AssetHash]) throws -> ZoneSection {
        let source = ZoneLog(context.store, part.zone)
        let log = part.written.log
        let generations = try source.generations(db).map {
            ZoneSection.Generation(id: $0.id, first: $0.first)
        }
        // Those of the tokens that readers of this mailbox may hold, so that they see whether this machine was set back, and those of the log.
        let acknowledged = try views.filter { view in part.readers.contains { $0.peer.id == view.peer.id } }
            .map { try source.acknowledged(db, by: $0.peer) }.filter { $0 > 0 }
        let least = min(log.ends.first ?? 0, acknowledged.min() ?? .max)
        let needed = generations.lastIndex { $0.first <= least } ?? 0
        let files = try OwnFile.all(db, mailbox: context.mailbox, zone: part.zone.row).filter(\.isThere)
            .prefix(MailboxLimits.files)
        let epochs = Self.epochs([part.written.zone.fileEpoch] + files.map(\.epoch))
        return ZoneSection(
            zone: part.zone.id, history: part.written.zone.history, log: log.log,
            logKey: context.secrets.key(of: log.log), isWhole: log.isWhole, base: log.base,
            segments: log.segments, ends: log.ends, covered: log.token,
            generations: generations.dropFirst(needed).suffix(MailboxLimits.generations),
            forgotten: try source.forgotten(db), digest: part.written.digest,
            readers: part.readers.map { ReplicaID(hashing: $0.peer.publicKey) }.sorted(),
            read: try read(db, part.zone),
            fileKeys: epochs.map { ZoneSection.FileKey(epoch: $0, key: context.secrets.key(of: $0)) },
            offered: files.compactMap { file in
                epochs.firstIndex(of: file.epoch).map {
                    ZoneSection.OfferedFile(hash: file.hash, size: file.size, key: $0)
                }
            },
            wanted: Array(wanted.prefix(MailboxLimits.files)), wantsMore: wanted.count > MailboxLimits.files,
            refused: try refused(db, part.zone), damaged: damaged(in: part))
    }

    /// What this machine could not open of those who read the section.
    private func damaged(in part: Part) -> [ZoneSection.Damaged] {
        let found = damaged.filter { damaged in
            damaged.zone ?? part.zone.row == part.zone.row
                && part.readers.contains { $0.peer.id == damaged.peer.id }
        }
        let all = Set(found).map {
            ZoneSection.Damaged(replica: ReplicaID(hashing: $0.peer.publicKey), object: $0.object)
        }
        let inOrder = all.sorted {
            ($0.replica, $0.object.hex) < ($1.replica, $1.object.hex)
        }
        return Array(inOrder.prefix(MailboxLimits.damaged))
    }

    /// The epochs whose keys a head has room for, each once.
    static func epochs(_ all: [FileEpoch]) -> [FileEpoch] {
        var epochs: [FileEpoch] = []
        for epoch in all where !epochs.contains(epoch) { epochs.append(epoch) }
        return Array(epochs.prefix(MailboxLimits.fileKeys))
    }

    /// What this machine has of all peers whose records it takes in a zone.
    private func read(_ db: Database, _ zone: Zone) throws -> [ZoneSection.Read] {
        let source = ZoneLog(context.store, zone)
        return try context.store.peers.all(db).compactMap { peer in
            guard try source.rights(db, of: peer) == .write else { return nil }
            let reading = try Reading.find(db, mailbox: context.mailbox, peer: peer.id, zone: zone.row)
            return ZoneSection.Read(
                replica: ReplicaID(hashing: peer.publicKey),
                history: reading?.history ?? HistoryID.none,
                log: reading?.log ?? LogID.none, segment: reading?.segment ?? 0,
                token: try source.received(db, from: peer))
        }
    }

    /// What this machine has refused of peers.
    private func refused(_ db: Database, _ zone: Zone) throws -> [ZoneSection.Refused] {
        let source = ZoneLog(context.store, zone)
        let peers = try context.store.peers.all(db).map { (ReplicaID(hashing: $0.publicKey), $0) }
        var left = MailboxLimits.refusedInAll
        var all: [ZoneSection.Refused] = []
        for (replica, peer) in peers.sorted(by: { $0.0 < $1.0 }) {
            let (named, further) = try source.refused(db, of: peer, limit: min(left, MailboxLimits.refused))
            guard !named.isEmpty || further > 0 else { continue }
            left -= named.count
            all.append(
                ZoneSection.Refused(
                    replica: replica, records: named.map { .init(name: $0.name, reason: $0.reason) },
                    further: min(further, MailboxLimits.furtherRefused - 1)))
        }
        return Array(all.prefix(MailboxLimits.machines))
    }

    private func wantedFiles(_ zones: [Zone]) async throws -> [Int64: [AssetHash]] {
        var wanted: [Int64: [AssetHash]] = [:]
        for zone in zones {
            wanted[zone.row] = try await context.store.assets.wanted(after: 0, in: [zone]).list.map(\.hash)
        }
        return wanted
    }

    private static let hashLength = 32

    /// Hashes of what a head says that is worth a new one, without tokens, which grow by what others have written: of all but the damaged
    /// objects, and of all.
    private static func content(of head: Head) -> [UInt8] {
        var undamaged = head
        undamaged.zones = head.zones.map { zone in
            var zone = zone
            zone.damaged = []
            return zone
        }
        return hashOfContent(undamaged) + hashOfContent(head)
    }

    private static func hashOfContent(_ head: Head) -> [UInt8] {
        var buffer = ByteBuffer()
        for zone in head.zones { zone.withoutTokens.encode(into: &buffer) }
        buffer.writeBytes(head.household?.encoded ?? [])
        for reader in head.readers {
            buffer.writeBytes(reader.key)
            buffer.writeInteger(reader.hasHousehold ? 1 : 0 as UInt8)
            for (zone, rights) in reader.rights.sorted(by: { $0.key < $1.key }) {
                buffer.writeInteger(Int64(zone))
                buffer.writeInteger(rights.rawValue)
            }
        }
        return hash(of: Array(buffer.readableBytesView))
    }

    static func hash(of bytes: [UInt8]) -> [UInt8] { BLAKE2b.hash(bytes, length: hashLength) }
}

extension ZoneSection {
    fileprivate var withoutTokens: ZoneSection {
        var section = self
        section.covered = .start
        section.generations = []
        section.digest = ZoneDigest()
        section.read = read.map {
            Read(replica: $0.replica, history: $0.history, log: $0.log, segment: $0.segment, token: nil)
        }
        return section
    }
}
