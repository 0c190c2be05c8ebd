import GRDB
import PeerSyncModel
import PeerSyncStore

/// Takes what a peer says in its head that it has refused of this machine's records (Protocol/mailbox.md section 6.5).
struct RefusalReader {
    let context: MailboxContext
    let view: AuthorView

    /// What the head says of one zone.
    private struct Told: Sendable {
        let zone: Zone
        /// What it has refused of this machine's records; nil if nothing.
        let refused: ZoneSection.Refused?
        /// Up to where it had read this machine's changes.
        let token: ChangeToken?
    }

    /// Replaces what is known of the peer through this mailbox, and tells what is new.
    func run(_ zones: [Zone]) async throws {
        let own = context.own.replica
        let told = zones.compactMap { zone -> Told? in
            // A zone of which the peer says nothing any more is not this machine's business there: nothing is refused.
            guard let section = view.head.zone(zone.id) else {
                return Told(zone: zone, refused: nil, token: nil)
            }
            // The peer's version does not know what to say.
            guard let refused = section.refused else { return nil }
            return Told(
                zone: zone, refused: refused.first { $0.replica == own },
                token: section.read.first { $0.replica == own }?.token)
        }
        guard try await isDue(told) else { return }
        let news = try await context.store.database.write { db in
            let further = told.reduce(0) { $0 + ($1.refused?.further ?? 0) }
            try KnownAuthor.setFurtherRefused(db, mailbox: context.mailbox, peer: view.peer.id, further)
            return try told.flatMap { told in
                try ZoneLog(context.store, told.zone).takeRefusals(
                    db, told.refused?.records.map { ($0.name, $0.reason) } ?? [], upTo: told.token,
                    by: view.peer, mailbox: context.mailbox)
            }
        }
        for refusal in news {
            context.onEvent(
                .peerRefusedRecords(machine: view.peer.name, refusal.names, refusal.reason.reason))
        }
    }

    /// Whether there may be something to write. Mostly nobody has refused anything.
    private func isDue(_ told: [Told]) async throws -> Bool {
        if told.contains(where: { $0.refused != nil }) { return true }
        return try await context.store.database.read { db in
            try ZoneLog.isAnyRefused(db, by: view.peer, mailbox: context.mailbox)
                || KnownAuthor.furtherRefused(db, mailbox: context.mailbox, peer: view.peer.id) > 0
        }
    }
}
