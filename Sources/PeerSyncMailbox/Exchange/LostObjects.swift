import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// Finds what this machine has put and the storage has lost (Protocol/mailbox.md section 5.4).
struct LostObjects {
    /// How often a machine reads what it has put, to see whether it is damaged: every 7 days, in milliseconds.
    static let readingInterval: Int64 = 7 * 24 * 3600 * 1000

    let context: MailboxContext

    /// What was found.
    struct Found {
        /// The logs that are lost, whole or in part.
        var logs: Set<LogID> = []
        /// Whether the last head is another one than this machine has put there.
        var isHeadDamaged = false
    }

    /// Looks for each object. The store then knows of lost files that they are not there.
    ///
    /// - Parameter isHeadLost: whether the last head is gone, and with it what it names.
    func find(isHeadLost: Bool) async throws -> Found {
        let (logs, files) = try await context.ownObjects()
        guard !logs.isEmpty else { return Found() }
        let listed = Set(try await context.storage.list(context.own.id.folder).map(\.name))
        var lost: Set<LogID> = []
        for log in logs where log.phase != .replaced {
            let isGone = try await isOneGone(log.names(by: context.secrets), listed)
            if isGone || (isHeadLost && log.phase == .named) { lost.insert(log.log) }
        }
        for file in files where file.isThere {
            guard try await isOneGone(file.names(by: context.secrets), listed) else { continue }
            var file = file
            file.isThere = false
            try await context.store.database.write { [file] in try file.save($0) }
        }
        return Found(logs: lost, isHeadDamaged: try await isHeadDamaged())
    }

    /// Whether the last head is another one than this machine has put there. It cannot open it, so it compares hashes.
    func isHeadDamaged() async throws -> Bool {
        let (published, hash) = try await context.store.database.read { db in
            (
                try context.published(db),
                try Data.fetchOne(
                    db, sql: "SELECT headHash FROM grdb_sync_mailbox WHERE id = ?",
                    arguments: [context.mailbox])
            )
        }
        guard let hash else { return false }
        do {
            let bytes = try await context.get(context.own.id.headName(UInt64(published)))
            return bytes.map { HeadWriter.hash(of: $0) != Array(hash) } ?? false
        } catch is DamagedObject {
            return true
        }
    }

    /// Removes damaged objects of this machine once in a while: nobody else can put them anew, and no reader may have told it of them.
    ///
    /// - Returns: whether it has looked for them.
    func removeDamagedIfDue() async throws -> Bool {
        let now = context.store.now()
        let last = try await context.store.database.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT checkedAt FROM grdb_sync_mailbox WHERE id = ?", arguments: [context.mailbox])
        }
        // A clock that was ahead once must not put it off for long.
        let isDue = last.map { $0 + Self.readingInterval <= now || now < $0 } ?? false
        guard isDue || last == nil else { return false }
        if isDue { try await removeDamaged() }
        try await context.store.database.write { db in
            try setChecked(db, at: now)
        }
        return isDue
    }

    /// Notes when this machine last read what it has put; 0 has the next pass do so.
    func setChecked(_ db: Database, at time: Int64) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_mailbox SET checkedAt = ? WHERE id = ?",
            arguments: [time, context.mailbox])
    }

    /// Removes damaged objects of this machine, so that ``find(isHeadLost:)`` misses them. Reads everything that its head names.
    ///
    /// - Parameter told: reads only these, of which readers have told.
    func removeDamaged(_ told: Set<ObjectID>? = nil) async throws {
        let (logs, files) = try await context.ownObjects()
        for log in logs where log.phase != .replaced {
            let key = context.secrets.key(of: log.log)
            for (number, name) in zip(1..., log.names(by: context.secrets)) {
                try await removeIfDamaged(name, told) { object throws(DamagedObject) in
                    _ = try Segment(
                        object, number: UInt64(number), of: log.log, logKey: key, by: context.own,
                        verificationKey: context.secrets.verificationKey,
                        end: Segment.end(of: number, base: log.base, log.ends))
                }
            }
        }
        for file in files where file.isThere {
            let key = context.secrets.key(of: file.epoch)
            for (piece, name) in file.names(by: context.secrets).enumerated() {
                try await removeIfDamaged(name, told) { object throws(DamagedObject) in
                    _ = try FilePiece.open(
                        object, piece, of: file.hash, in: file.epoch, fileKey: key, by: context.own)
                }
            }
        }
    }

    private func removeIfDamaged(
        _ name: MailboxObjectName, _ told: Set<ObjectID>?, _ open: ([UInt8]) throws(DamagedObject) -> Void
    ) async throws {
        try Task.checkCancellation()
        guard told.map({ told in ObjectID(name).map(told.contains) ?? false }) ?? true else { return }
        do {
            guard let object = try await context.get(name) else { return }
            try open(object)
        } catch is DamagedObject {
            // A check may have found it while another program uses the mailbox: the next pass of that one has to look again, too. Of what it was
            // told, this pass looks itself.
            if told == nil { try await context.store.database.write { try setChecked($0, at: 0) } }
            try await context.storage.delete(name)
        }
    }

    /// A list may lag, so it asks for what is not in it.
    private func isOneGone(
        _ names: [MailboxObjectName], _ listed: Set<MailboxObjectName>
    ) async throws -> Bool {
        for name in names where !listed.contains(name) {
            if try await !context.has(name) { return true }
        }
        return false
    }
}
