import GRDB
import PeerSyncModel
import PeerSyncStore

/// Removes objects of this machine that its head makes useless (Protocol/mailbox.md section 9).
struct CleanUp {
    /// How long a log stays that another one has replaced, if readers do not say that they know the other one: 7 days in
    /// milliseconds.
    static let grace: Int64 = 7 * 24 * 3600 * 1000

    let context: MailboxContext
    let views: [AuthorView]

    /// Removes this machine's heads but the last one.
    ///
    /// - Parameter own: the counters that are there.
    func removeHeads(_ own: [Int64], but last: Int64) async throws {
        for counter in own where counter < last {
            try await context.storage.delete(context.own.id.headName(UInt64(counter)))
        }
    }

    /// Removes logs that others have replaced.
    ///
    /// - Parameter parts: the zones of the head.
    /// - Returns: whether it has removed one.
    func removeLogs(_ parts: [HeadWriter.Part]) async throws -> Bool {
        var hasRemoved = false
        for log in try await context.store.database.read({ try OwnLog.all($0, mailbox: context.mailbox) })
        where log.phase == .replaced && isUseless(log, parts.first { $0.zone.row == log.zone }) {
            let key = context.secrets.key(of: log.log)
            // One more: a crash may have left the one that came next.
            for number in 1...UInt64(log.segments + 1) {
                try await context.storage.delete(Segment.name(number, of: context.own.id, logKey: key))
            }
            try await context.store.database.write { try log.delete($0) }
            hasRemoved = true
        }
        return hasRemoved
    }

    private func isUseless(_ log: OwnLog, _ part: HeadWriter.Part?) -> Bool {
        if (log.replacedAt ?? 0) + Self.grace <= context.store.now() { return true }
        guard let part else { return false }
        return part.readers.allSatisfy { reader in
            views.contains { view in
                view.peer.id == reader.peer.id
                    && view.segmentRead(of: part.written.log.log, by: context.own, in: part.zone) != nil
            }
        }
    }

    /// Removes every object under this machine's folder that the store cannot explain: what a crash left. Others may have put files there that have no
    /// name of an object; those stay.
    func sweep() async throws {
        let (logs, files) = try await context.ownObjects()
        var known: Set<MailboxObjectName> = []
        for log in logs { known.formUnion(log.names(by: context.secrets)) }
        for file in files { known.formUnion(file.names(by: context.secrets)) }
        for object in try await context.storage.list(context.own.id.folder)
        where !known.contains(object.name) && ObjectID(object.name) != nil {
            try await context.storage.delete(object.name)
        }
    }
}
