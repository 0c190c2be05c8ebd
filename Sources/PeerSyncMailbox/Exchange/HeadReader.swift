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
        /// Objects that are called as heads of this machine, with counters that it does not come to.
        var strays: [MailboxObjectName] = []
        /// Whether there is any head.
        var isAny = false
        /// The numbers of the peers of which nothing is there any more. What they had put nobody can read.
        var gone: Set<Int64> = []
        /// The numbers of the peers of which this pass has got a head.
        var new: Set<Int64> = []
        var problems = ReadingProblems()
    }

    func run(_ memory: inout Memory) async throws -> Heads {
        var heads = Heads()
        var greatest: [AuthorID: Int64] = [:]
        for object in try await context.storage.list(MailboxFormat.heads) {
            guard let (author, number) = AuthorID.parse(object.name) else { continue }
            let isOwn = author == context.own.id
            // An author that is brought to half of all numbers has the other half for its heads.
            guard number < (isOwn ? MailboxLimits.counter / 2 : MailboxLimits.counter) else {
                if isOwn { heads.strays.append(object.name) }
                continue
            }
            let counter = Int64(number)
            heads.isAny = true
            if isOwn { heads.own.append(counter) }
            greatest[author] = max(greatest[author] ?? 0, counter)
        }
        heads.own.sort()
        greatest[context.own.id] = nil

        let (peers, known) = try await context.store.database.read { db in
            (try context.store.peers.all(db), try KnownAuthor.all(db, mailbox: context.mailbox))
        }
        let byID = Dictionary(uniqueKeysWithValues: peers.map { ($0.id, $0) })
        for (author, counter) in greatest.sorted(by: { $0.key.hex < $1.key.hex }) {
            // What was unreadable has gone, and its counter may come again.
            if memory.unreadable[author]?.counter != counter { memory.unreadable[author] = nil }
            let former = known.first { $0.author == author }
            guard former?.isNew(counter) ?? true else { continue }
            let writer = former.flatMap { byID[$0.peer] }
            // A machine has one name as an author, and nobody but itself can write under another one.
            let candidates =
                writer.map { [$0] } ?? peers.filter { peer in !known.contains { $0.peer == peer.id } }
            let tried = Set(candidates.map(\.id))
            guard memory.unreadable[author]?.peers != tried else { continue }
            switch try await get(author, counter, by: writer, amongst: candidates) {
            case .notThere: continue
            case .peer(let id): heads.new.insert(id)
            case .damaged(let peer, let damage): heads.problems.note(damage, of: peer)
            case .nobody:
                memory.unreadable[author] = (counter, tried)
                // A peer that has written for this machine before, and does so no more, is not an author for it.
                if let former {
                    try await context.store.database.write { try former.forgetHead($0, at: counter) }
                }
            }
        }
        for author in known {
            guard let peer = byID[author.peer] else { continue }
            try await checkPresence(author, peer, listed: greatest[author.author], &memory, &heads)
        }
        try await open(byID, &heads)
        return heads
    }

    private enum Found {
        /// It is not there, or it is damaged and nobody can tell whose it is. It may be whole later.
        case notThere
        case damaged(Peer, DamagedObject)
        case nobody
        case peer(Int64)
    }

    /// Gets a head, finds out whose it is, and remembers it.
    ///
    /// - Parameter writer: the peer whose it is, if that is known.
    private func get(
        _ author: AuthorID, _ counter: Int64, by writer: Peer?, amongst peers: [Peer]
    ) async throws -> Found {
        let name = author.headName(UInt64(counter))
        let bytes: [UInt8]
        do {
            guard let object = try await context.get(name) else { return .notThere }
            bytes = object
        } catch let damage as DamagedObject {
            return writer.map { .damaged($0, damage) } ?? .notThere
        }
        guard writer != nil || HeadCodec.hasAllParts(bytes) else { return .notThere }
        for peer in peers {
            let head: OpenedHead
            do {
                guard
                    let opened = try DamagedObject.naming(
                        name,
                        { () throws(DamagedObject) in
                            try HeadCodec.open(
                                bytes, of: author, counter: UInt64(counter), by: peer.publicKey,
                                as: context.secrets)
                        })
                else { continue }
                head = opened
            } catch let damage {
                return .damaged(peer, damage)
            }
            let entry = KnownAuthor(
                mailbox: context.mailbox, peer: peer.id, author: author, counter: counter, head: bytes,
                heardAt: context.nowText)
            let ended = try await context.store.database.write { db in
                try entry.save(db)
                return try takeRights(db, head, of: peer)
            }
            for zone in ended {
                context.onEvent(.zoneEnded(machine: peer.name, zone: zone.isDefault ? nil : zone.name))
            }
            return .peer(peer.id)
        }
        return .nobody
    }

    /// Notes what a peer lets this machine do, as its head tells, with the head.
    ///
    /// - Returns: the zones in which it lets this machine do nothing any more.
    private func takeRights(_ db: Database, _ head: OpenedHead, of peer: Peer) throws -> [Zone] {
        guard try !isOutdated(db, head, of: peer) else { return [] }
        for (section, rights) in head.zones {
            guard let zone = try context.store.zones.find(db, section.zone) else { continue }
            try context.peerZone(zone, peer).noteOwnRightsIfNews(db, rights)
        }
        return try ZoneLog.endOwnRights(db, at: peer.id, but: head.zones.map(\.section.zone))
    }

    /// How much the clocks of two machines that meet may differ, and a session may last longer than it seems, in milliseconds.
    private static let clockTolerance: Int64 = 10 * 60 * 1000

    /// Whether a head says less than this machine has heard of the peer: a session has told its rights since, or a newer head in another
    /// mailbox. Counters of heads are mostly the times of their authors' clocks.
    private func isOutdated(_ db: Database, _ head: OpenedHead, of peer: Peer) throws -> Bool {
        if let seen = peer.lastSeen.flatMap({ ISO8601.milliseconds(canonical: $0) }),
            head.time + Self.clockTolerance < seen
        {
            return true
        }
        return try KnownAuthor.greatestCounter(db, peer: peer.id) > Int64(head.counter)
    }

    /// Looks for the head that was seen last, unless a newer one is there. A list may lag, so it asks for the head itself.
    private func checkPresence(
        _ known: KnownAuthor, _ peer: Peer, listed: Int64?, _ memory: inout Memory,
        _ heads: inout Heads
    ) async throws {
        let name = known.author.headName(UInt64(known.counter))
        guard listed ?? -1 < known.counter, try await !context.has(name) else { return }
        // Who uses the mailbox no more may have removed all that it had put: then nothing is missing.
        let isAnyLeft =
            if listed != nil { true } else { try await !context.storage.list(known.author.folder).isEmpty }
        if isAnyLeft {
            heads.problems.note(
                MailboxError(.wentBack, "something of “\(peer.name)” is gone that was there"), of: peer)
        } else {
            heads.gone.insert(peer.id)
        }
        guard memory.toldGone.insert(name).inserted else { return }
        context.onEvent(isAnyLeft ? .wentBack(machine: peer.name) : .gone(machine: peer.name))
    }

    /// Opens what the store remembers of each peer.
    private func open(_ peers: [Int64: Peer], _ heads: inout Heads) async throws {
        for known in try await context.store.database.read({
            try KnownAuthor.all($0, mailbox: context.mailbox)
        }) {
            guard let peer = peers[known.peer], !heads.gone.contains(peer.id) else { continue }
            guard !known.head.isEmpty else {
                heads.problems.note(Self.silence(of: peer), of: peer)
                continue
            }
            guard
                let head = try? HeadCodec.open(
                    known.head, of: known.author, counter: UInt64(known.counter), by: peer.publicKey,
                    as: context.secrets)
            else { continue }
            heads.views.append(
                AuthorView(
                    peer: peer, head: head,
                    heardAt: ISO8601.milliseconds(canonical: known.heardAt) ?? context.store.now()))
        }
    }

    /// Nobody can tell damaged slots from those for others.
    private static func silence(of peer: Peer) -> MailboxError {
        MailboxError(
            .notShared,
            "“\(peer.name)” no longer lets this machine read anything there: this one was removed, or has no rights any more, or the note is damaged"
        )
    }
}
