import PeerSyncStore

/// Why a pass could not read on what peers have put. All parts of a pass note here what they find; the end of the reading tells it, so that
/// nothing is told again because another part found nothing.
struct ReadingProblems {
    /// By peer, the first that was found: what was found after it may follow from it. That something has not come yet is none as long
    /// as there is another.
    private(set) var found: [Int64: MailboxError] = [:]
    /// The damaged objects, of which this machine's next head tells their authors.
    private(set) var damaged: [Damaged] = []

    struct Damaged: Sendable, Hashable {
        let peer: Peer
        /// Nil for a head.
        let zone: Int64?
        let object: ObjectID
    }

    mutating func note(_ problem: MailboxError, of peer: Peer) {
        if found[peer.id].map({ $0.code == .waiting }) ?? true { found[peer.id] = problem }
    }

    mutating func note(_ damage: DamagedObject, of peer: Peer, in zone: Zone? = nil) {
        note(MailboxError(.invalid, "“\(peer.name)” has \(damage)", underlying: damage), of: peer)
        guard let object = damage.name.flatMap({ ObjectID($0) }) else { return }
        damaged.append(Damaged(peer: peer, zone: zone?.row, object: object))
    }

    /// How long what a head names may take to come, in milliseconds: lists lag, and folders are copied in any order.
    private static let usualDelay: Int64 = 10 * 60 * 1000

    /// Notes that something has not come yet. After a while its author is told, as of what is damaged.
    mutating func note(missing name: MailboxObjectName, of view: AuthorView, in zone: Zone, now: Int64) {
        note(
            MailboxError(.waiting, "something that “\(view.peer.name)” has put has not come yet"),
            of: view.peer)
        guard now - view.heardAt >= Self.usualDelay, let object = ObjectID(name) else { return }
        damaged.append(Damaged(peer: view.peer, zone: zone.row, object: object))
    }

    /// Remembers the problems of each peer, and that the others have none. Tells what is new.
    func tell(_ context: MailboxContext) async throws {
        let news = try await context.store.database.write { [found] db in
            let authors = try KnownAuthor.all(db, mailbox: context.mailbox)
            let changed = try authors.filter { author in
                try KnownAuthor.setProblem(
                    db, mailbox: context.mailbox, peer: author.peer,
                    found[author.peer].map { ($0.code.description, $0.message) })
            }
            let peers = try context.store.peers.all(db)
            return changed.compactMap { author in peers.first { $0.id == author.peer } }
        }
        for peer in news {
            // The one is nothing unusual, and the status tells it; the other has an event of its own.
            guard let problem = found[peer.id], ![.waiting, .wentBack].contains(problem.code) else {
                continue
            }
            context.onEvent(.stopped(machine: peer.name, problem))
        }
    }
}
