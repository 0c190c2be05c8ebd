import PeerSyncModel
import PeerSyncStore

/// Finds what this machine has put and the storage has lost (Protocol/mailbox.md section 5.4).
struct LostObjects {
    let context: MailboxContext

    /// Looks for each object. The store then knows of lost files that they are not there.
    ///
    /// - Parameter isHeadLost: whether the last head is gone, and with it what it names.
    /// - Returns: the logs that are lost, whole or in part.
    func find(isHeadLost: Bool) async throws -> Set<LogID> {
        let (logs, files) = try await context.store.database.read { db in
            (try OwnLog.all(db, mailbox: context.mailbox), try OwnFile.all(db, mailbox: context.mailbox))
        }
        guard !logs.isEmpty else { return [] }
        let listed = Set(try await context.storage.list(context.own.id.folder).map(\.name))
        var lost: Set<LogID> = []
        for log in logs where log.phase != .replaced {
            let names = log.names(by: context.own.id, key: context.secrets.key(of: log.log))
            let isGone = try await isOneGone(names, listed)
            if isGone || (isHeadLost && log.phase == .named) { lost.insert(log.log) }
        }
        for file in files where file.isThere {
            let names = file.names(by: context.own.id, key: context.secrets.key(of: file.epoch))
            guard try await isOneGone(names, listed) else { continue }
            var file = file
            file.isThere = false
            try await context.store.database.write { [file] in try file.save($0) }
        }
        return lost
    }

    /// A list may lag, so it asks for what is not in it.
    private func isOneGone(
        _ names: [MailboxObjectName], _ listed: Set<MailboxObjectName>
    ) async throws -> Bool {
        for name in names where !listed.contains(name) {
            if try await context.storage.get(name) == nil { return true }
        }
        return false
    }
}
