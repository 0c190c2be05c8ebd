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

    /// How long a peer has to put anew itself what a reader misses: an hour after this machine got its last head, in milliseconds.
    static let patience: Int64 = 3600 * 1000

    /// A peer whose records the log may leave out.
    struct Candidate: Sendable {
        let peer: Peer
        let history: HistoryID
        /// Whether its log covers what this machine holds of it.
        let isCovered: Bool
    }

    /// The peers for which the first four conditions hold.
    func candidates(_ db: Database) throws -> [Candidate] {
        let log = ZoneLog(context.store, zone)
        return try views.compactMap { view in
            guard let section = view.head.zone(zone.id), section.isComplete,
                try log.rights(db, of: view.peer) == .write,
                let reading = try Reading.find(
                    db, mailbox: context.mailbox, peer: view.peer.id, zone: zone.row),
                reading.history == section.history,
                isReadByAll(view, section), !isMissed(view, section)
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

    /// Whether a reader could not open, or misses, what the peer's head names, and the peer does not come to put it anew.
    private func isMissed(_ view: AuthorView, _ section: ZoneSection) -> Bool {
        // A clock that was ahead once must not put it off for long.
        guard !(0..<Self.patience).contains(context.store.now() - view.heardAt) else { return false }
        let author = view.head.author
        let told = views.filter { readers.contains($0.head.author.replica) }
            .flatMap { $0.head.zone(zone.id)?.damaged ?? [] }.filter { $0.replica == author.replica }
        guard !told.isEmpty else { return false }
        let segments = (1...UInt64(section.segments)).map {
            ObjectID(Segment.name($0, of: author.id, logKey: section.logKey))
        }
        return told.contains { damaged in
            segments.contains(damaged.object) || damaged.object.headCounter ?? 0 >= view.head.counter
        }
    }
}
