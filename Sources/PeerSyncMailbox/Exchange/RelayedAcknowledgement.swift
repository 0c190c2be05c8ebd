import GRDB
import PeerSyncModel
import PeerSyncStore

/// Notes that a peer has all that this machine has, where the rest came from others, whose logs the peer has read (Protocol/mailbox.md
/// section 6.3). The peer says nothing of this machine's tokens then: nobody puts a head because others' tokens grew.
struct RelayedAcknowledgement {
    let context: MailboxContext
    let views: [AuthorView]

    func run(_ zones: [Zone]) async throws {
        for view in views {
            for zone in zones {
                guard let section = view.head.zone(zone.id) else { continue }
                try await run(view.peer, section, zone)
            }
        }
    }

    private func run(_ peer: Peer, _ section: ZoneSection, _ zone: Zone) async throws {
        let log = ZoneLog(context.store, zone)
        let token = try await context.store.readFolded { db -> ChangeToken? in
            // Of all: what one leaves out of its log lies in that of another one.
            let others = try views.filter { other in
                try other.peer.id != peer.id && other.head.zone(zone.id) != nil
                    && log.rights(db, of: other.peer) == .write
            }
            guard try others.allSatisfy({ try hasRead($0, section, zone, db) }) else { return nil }
            return try log.isAllFrom(others.map(\.peer.id) + [peer.id], db, unacknowledgedBy: peer)
                ? log.current(db) : nil
        }
        guard let token else { return }
        try await context.peerZone(zone, peer).write { try $0.acknowledge($1, token) }
    }

    /// Whether the one that says `section` has read the log of another author to its end, and so all that this machine has from there.
    private func hasRead(_ other: AuthorView, _ section: ZoneSection, _ zone: Zone, _ db: Database) throws
        -> Bool
    {
        guard let theirs = other.head.zone(zone.id), theirs.isComplete,
            let read = section.read.first(where: { $0.replica == other.head.author.replica }),
            read.history == theirs.history, read.log == theirs.log, read.segment >= theirs.segments,
            let received = try ZoneLog(context.store, zone).received(db, from: other.peer)
        else { return false }
        return theirs.isCovered(received, by: theirs.covered)
    }
}
