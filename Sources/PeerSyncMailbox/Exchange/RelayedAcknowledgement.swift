import GRDB
import PeerSyncModel
import PeerSyncStore

/// Notes that a peer has all that this machine has, where the rest came from others, whose logs the peer has read (Protocol/mailbox.md
/// section 6.3). The peer says nothing of this machine's tokens then: nobody puts a head because others' tokens grew.
struct RelayedAcknowledgement {
    let context: MailboxContext
    let views: [AuthorView]

    func run(_ zones: [Zone]) async throws {
        let (news, token) = try await context.store.readFolded { db in
            let news = try views.flatMap { view in
                try zones.filter { try hasAll(view, $0, db) }.map { (peer: view.peer, zone: $0) }
            }
            return (news, try ZoneLog.current(db))
        }
        for (peer, zone) in news {
            try await context.peerZone(zone, peer).write { try $0.acknowledge($1, token) }
        }
    }

    /// Whether a peer has all of this machine's changes in a zone, although it has not acknowledged them.
    private func hasAll(_ view: AuthorView, _ zone: Zone, _ db: Database) throws -> Bool {
        let log = ZoneLog(context.store, zone)
        guard let section = view.head.zone(zone.id), try log.isAnythingUnacknowledged(db, by: view.peer)
        else { return false }
        // All of them: what one leaves out of its log lies in that of another one.
        let others = try views.filter { other in
            try other.peer.id != view.peer.id && other.head.zone(zone.id) != nil
                && log.rights(db, of: other.peer) == .write
        }
        return try others.allSatisfy { try hasRead($0, section, zone, db) }
            && !log.isAnythingUnacknowledged(db, by: view.peer, leavingOut: others.map(\.peer))
    }

    /// Whether the one that says `section` has read the log of another author to its end, and so all that this machine has from there.
    private func hasRead(_ other: AuthorView, _ section: ZoneSection, _ zone: Zone, _ db: Database) throws
        -> Bool
    {
        guard let theirs = other.head.zone(zone.id), section.hasRead(theirs, of: other.head.author),
            let received = try ZoneLog(context.store, zone).received(db, from: other.peer)
        else { return false }
        return theirs.isCovered(received, by: theirs.covered)
    }
}
