import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// Lists and opens the heads of a mailbox (Protocol/mailbox.md section 6).
struct HeadReader {
    /// What a running mailbox remembers of heads, so that it gets nothing twice.
    struct Memory: Sendable {
        /// Authors that wrote nothing for this machine, with the counter, and the peers that were tried.
        var unreadable: [AuthorID: (counter: Int64, peers: Set<Int64>)] = [:]
        /// The heads that are gone, and of which the user was told.
        var toldGone: Set<MailboxObjectName> = []
    }

    let context: MailboxContext

    /// What is there.
    struct Heads {
        var views: [AuthorView] = []
        /// The counters of this machine's heads, ascending.
        var own: [Int64] = []
        /// Whether there is any head.
        var isAny = false
    }

    func run(_ memory: inout Memory) async throws -> Heads {
        var heads = Heads()
        var greatest: [AuthorID: Int64] = [:]
        for object in try await context.storage.list(MailboxFormat.heads) {
            guard let (author, number) = AuthorID.parse(object.name), let counter = Int64(exactly: number)
            else { continue }
            heads.isAny = true
            if author == context.own.id { heads.own.append(counter) }
            greatest[author] = max(greatest[author] ?? 0, counter)
        }
        heads.own.sort()
        greatest[context.own.id] = nil

        let (peers, known) = try await context.store.database.read { db in
            (try context.store.peers.all(db), try KnownAuthor.all(db, mailbox: context.mailbox))
        }
        let byID = Dictionary(uniqueKeysWithValues: peers.map { ($0.id, $0) })
        for (author, counter) in greatest.sorted(by: { $0.key.hex < $1.key.hex }) {
            let former = known.first { $0.author == author }
            guard counter > former?.counter ?? -1 else { continue }
            let candidates = former.flatMap { byID[$0.peer] }.map { [$0] } ?? peers
            let tried = Set(candidates.map(\.id))
            if let entry = memory.unreadable[author], entry.counter >= counter, entry.peers == tried {
                continue
            }
            switch try await get(author, counter, candidates) {
            case .notThere, .peer: continue
            case .nobody: memory.unreadable[author] = (counter, tried)
            }
        }
        for author in known {
            try await checkPresence(author, byID[author.peer], listed: greatest[author.author], &memory)
        }
        heads.views = try await views(byID)
        return heads
    }

    private enum Found {
        case notThere
        case nobody
        case peer
    }

    /// Gets a head, finds out whose it is, and remembers it.
    private func get(_ author: AuthorID, _ counter: Int64, _ candidates: [Peer]) async throws -> Found {
        guard let bytes = try await context.storage.get(author.headName(UInt64(counter))) else {
            return .notThere
        }
        for peer in candidates {
            do {
                guard
                    try HeadCodec.open(
                        bytes, of: author, counter: UInt64(counter), by: peer.publicKey, as: context.secrets)
                        != nil
                else { continue }
            } catch let damage {
                try await context.tellProblem(
                    of: peer, MailboxError(.invalid, "“\(peer.name)” has \(damage)"))
                // It may be whole later.
                return .notThere
            }
            let entry = KnownAuthor(
                mailbox: context.mailbox, peer: peer.id, author: author, counter: counter, head: bytes,
                heardAt: context.nowText)
            try await context.store.database.write { try entry.save($0) }
            return .peer
        }
        // A peer that has written for this machine before, and does so no more, is not an author for it.
        try await context.store.database.write { db in
            try db.execute(
                sql: "DELETE FROM grdb_sync_mailboxAuthor WHERE mailbox = ? AND author = ?",
                arguments: [context.mailbox, Data(author.bytes)])
        }
        return .nobody
    }

    /// Tells when the head that was seen last is gone, and no newer one is there. A list may lag, so it asks for the head itself.
    private func checkPresence(
        _ known: KnownAuthor, _ peer: Peer?, listed: Int64?, _ memory: inout Memory
    ) async throws {
        let name = known.author.headName(UInt64(known.counter))
        guard let peer, listed ?? -1 < known.counter, !memory.toldGone.contains(name),
            try await context.storage.get(name) == nil
        else { return }
        memory.toldGone.insert(name)
        context.onEvent(.wentBack(machine: peer.name))
    }

    /// Opens what the store remembers of each peer.
    private func views(_ peers: [Int64: Peer]) async throws -> [AuthorView] {
        try await context.store.database.read { try KnownAuthor.all($0, mailbox: context.mailbox) }.compactMap
        { known in
            guard let peer = peers[known.peer],
                let head = try? HeadCodec.open(
                    known.head, of: known.author, counter: UInt64(known.counter), by: peer.publicKey,
                    as: context.secrets)
            else { return nil }
            return AuthorView(peer: peer, head: head)
        }
    }
}

extension MailboxContext {
    /// Notes why this machine does not read on what a peer has put, and tells it once.
    func tellProblem(of peer: Peer, _ problem: MailboxError?) async throws {
        let isNews = try await store.database.write { db in
            try KnownAuthor.setProblem(
                db, mailbox: mailbox, peer: peer.id, problem.map { ($0.code.description, $0.message) })
            return db.changesCount > 0
        }
        // That is nothing unusual, and the status tells it.
        if isNews, let problem, problem.code != .waiting { onEvent(.stopped(machine: peer.name, problem)) }
    }
}
