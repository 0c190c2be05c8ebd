import GRDB
import PeerSyncModel
import PeerSyncStore

/// Finds how much a peer has read of what its token covers. The token passes over what this machine's logs leave out, because that lies
/// in the logs of others, and the peer may not have read those (Protocol/mailbox.md section 6.3).
struct HeldChanges {
    let context: MailboxContext
    let zone: Zone
    let views: [AuthorView]

    /// - Parameters:
    ///   - read: what the peer says of this machine.
    ///   - section: all that the peer says of the zone.
    /// - Returns: the number up to which the peer holds all changes; not more than that of the token.
    func end(
        _ db: Database, of token: ChangeToken, _ read: ZoneSection.Read, by peer: Peer, _ section: ZoneSection
    )
        throws -> Int64
    {
        // It has the token from a session then.
        guard read.segment > 0 else { return token.sequence }
        let source = ZoneLog(context.store, zone)
        let acknowledged = try source.acknowledged(db, by: peer)
        let logs = try OwnLog.all(db, mailbox: context.mailbox, zone: zone.row)
        // Nobody knows any more what that log left out.
        guard let log = logs.first(where: { $0.log == read.log }) else { return acknowledged }
        // Nobody passes over the base of a whole log, which has everything.
        let isBaseRead = log.isWhole && log.isComplete && read.segment >= log.base
        let leftOut = try (isBaseRead ? [log] : logs).flatMap { try $0.leftOut(db) }
            .filter { $0.key != peer.id }
        // All of them: what one leaves out of its log may lie in that of another one.
        let isAllRead = leftOut.allSatisfy { id, history in
            guard let view = views.first(where: { $0.peer.id == id }), let theirs = view.head.zone(zone.id)
            else { return false }
            return theirs.history == history && section.hasRead(theirs, of: view.head.author)
        }
        guard !isAllRead else { return token.sequence }
        let first = try source.firstChange(
            db, after: max(acknowledged, isBaseRead ? log.ends.first ?? 0 : 0), upTo: token.sequence,
            from: leftOut.map(\.key))
        return first.map { $0 - 1 } ?? token.sequence
    }
}

extension ZoneSection {
    /// Whether who says this has read the log of another author to the end that the other one's head names.
    func hasRead(_ theirs: ZoneSection, of author: Author) -> Bool {
        guard theirs.isComplete, let read = read.first(where: { $0.replica == author.replica }) else {
            return false
        }
        return read.history == theirs.history && read.log == theirs.log && read.segment >= theirs.segments
    }
}
