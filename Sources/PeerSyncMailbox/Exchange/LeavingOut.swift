import GRDB
import PeerSyncModel
import PeerSyncStore

/// Decides whose records a log may leave out, because the readers get them from their authors (Protocol/mailbox.md section 5.3).
struct LeavingOut {
    let context: MailboxContext
    let zone: Zone
    /// All that may read the zone here.
    let readers: [ReplicaID]
    let views: [AuthorView]

    /// A peer whose records the log may leave out.
    struct Candidate: Sendable {
        let peer: Peer
        let history: HistoryID
        /// Whether its log covers what this machine holds of it.
        let isCovered: Bool
    }

    /// The peers for which the first three conditions hold.
    func candidates(_ db: Database) throws -> [Candidate] {
        let log = ZoneLog(context.store, zone)
        return try views.compactMap { view in
            guard let section = view.head.zone(zone.id), section.isComplete,
                try log.rights(db, of: view.peer) == .write,
                let reading = try Reading.find(
                    db, mailbox: context.mailbox, peer: view.peer.id, zone: zone.row),
                reading.history == section.history,
                isReadByAll(view, section)
            else { return nil }
            let received = try log.received(db, from: view.peer)
            return Candidate(
                peer: view.peer, history: section.history,
                isCovered: received.map { section.isCovered($0, by: section.covered) } ?? false)
        }
    }

    /// Whether all readers of this machine may read the peer's log, and those that have said what they take, take it.
    private func isReadByAll(_ view: AuthorView, _ section: ZoneSection) -> Bool {
        let replica = view.head.author.replica
        guard Set(readers).subtracting([replica]).isSubset(of: section.readers) else { return false }
        return views.allSatisfy { other in
            guard other.head.author.replica != replica, readers.contains(other.head.author.replica),
                let theirs = other.head.zone(zone.id)
            else { return true }
            return theirs.read.contains { $0.replica == replica }
        }
    }
}
