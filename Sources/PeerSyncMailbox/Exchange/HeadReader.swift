import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// Lists and opens the heads of a mailbox (Protocol/mailbox.md section 6).
struct HeadReader {
    /// What a running mailbox remembers of heads, so that it gets nothing twice.
    struct Memory: Sendable {
        /// The heads of authors that wrote nothing for this machine, or no whole head of this version.
        var unreadable: [AuthorID: Unreadable] = [:]
        /// Whether the user was told of heads of a later version, of which nobody can tell whose they are.
        var hasToldVersion = false
        /// The heads that are gone, and of which the user was told.
        var toldGone: Set<MailboxObjectName> = []

        /// - Parameters:
        ///   - peers: the peers that were tried.
        ///   - version: the version of the head, if it is a later one.
        mutating func note(
            _ head: Listed, of author: AuthorID, peers: Set<Int64>, now: Int64, version: UInt8? = nil
        ) {
            let former = unreadable[author].flatMap { $0.peers == peers ? $0.pause * 2 : nil }
            unreadable[author] = Unreadable(
                head: head, peers: peers, version: version, gotAt: now,
                pause: min(former ?? Unreadable.shortestPause, Unreadable.longestPause))
        }
    }

    /// A head that told this machine nothing. It is got again when it is another object, when there are other peers, and after a pause: what
    /// others copy may have its size before it has its bytes.
    struct Unreadable: Sendable {
        static let shortestPause: Int64 = 60 * 1000
        static let longestPause: Int64 = 3600 * 1000

        let head: Listed
        /// The peers that were tried.
        let peers: Set<Int64>
        /// Its version, if that is a later one.
        let version: UInt8?
        /// When it was got, in milliseconds since 1970.
        let gotAt: Int64
        /// How long it rests, in milliseconds.
        let pause: Int64

        func rests(_ peers: Set<Int64>, now: Int64) -> Bool {
            self.peers == peers && (0..<pause).contains(now - gotAt)
        }
    }

    /// A head in the list.
    struct Listed: Sendable, Equatable {
        let counter: Int64
        let size: Int64
    }

    let context: MailboxContext
    /// Whether the program goes on after this pass. Any other would tell in each of its runs of machines that nobody knows.
    let goesOn: Bool

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
        var listed = try await list(&heads)
        let (peers, known) = try await context.store.database.read { db in
            (try context.store.peers.all(db), try KnownAuthor.all(db, mailbox: context.mailbox))
        }
        // What was unreadable may have gone, and its counter may come again.
        memory.unreadable = memory.unreadable.filter { listed[$0.key] == $0.value.head }
        // A machine has one name as an author, and nobody but itself can write under another one.
        let others = peers.filter { peer in !known.contains { $0.peer == peer.id } }
        let (now, ids) = (context.store.now(), Set(others.map(\.id)))
        Self.leaveOutStrangers(
            &listed, known, resting: memory.unreadable.filter { $0.value.rests(ids, now: now) }.keys)
        let byID = Dictionary(uniqueKeysWithValues: peers.map { ($0.id, $0) })
        for (author, head) in listed.sorted(by: { $0.key.hex < $1.key.hex }) {
            let former = known.first { $0.author == author }
            guard former?.isNew(head.counter) ?? true else { continue }
            let writer = former.flatMap { byID[$0.peer] }
            let candidates = writer.map { [$0] } ?? others
            let tried = Set(candidates.map(\.id))
            if let unreadable = memory.unreadable[author], unreadable.rests(tried, now: now) {
                if let version = unreadable.version { note(version, of: writer, &memory, &heads) }
                continue
            }
            switch try await get(author, head, by: writer, amongst: candidates) {
            case .notThere: continue
            case .torn: memory.note(head, of: author, peers: tried, now: now)
            case .peer(let id): heads.new.insert(id)
            case .damaged(let peer, let damage): heads.problems.note(damage, of: peer)
            case .laterVersion(let version):
                memory.note(head, of: author, peers: tried, now: now, version: version)
                note(version, of: writer, &memory, &heads)
            case .nobody:
                memory.note(head, of: author, peers: tried, now: now)
                if let former { try await forget(former, of: writer, at: head.counter) }
            }
        }
        for author in known {
            guard let peer = byID[author.peer] else { continue }
            try await checkPresence(author, peer, listed: listed[author.author]?.counter, &memory, &heads)
        }
        try await open(byID, &heads)
        return heads
    }

    /// Lists the heads: notes this machine's own.
    ///
    /// - Returns: of each other author the one with the greatest counter.
    private func list(_ heads: inout Heads) async throws -> [AuthorID: Listed] {
        var greatest: [AuthorID: Listed] = [:]
        for object in try await context.storage.list(MailboxFormat.heads) {
            guard let (author, number) = AuthorID.parse(object.name) else { continue }
            let isOwn = author == context.own.id
            // An author that is brought to half of all numbers has the other half for its heads.
            guard number < (isOwn ? MailboxLimits.counter / 2 : MailboxLimits.counter) else {
                if isOwn { heads.strays.append(object.name) }
                continue
            }
            let head = Listed(counter: Int64(number), size: object.size)
            heads.isAny = true
            if isOwn {
                heads.own.append(head.counter)
            } else if greatest[author]?.counter ?? -1 < head.counter {
                greatest[author] = head
            }
        }
        heads.own.sort()
        return greatest
    }

    /// Leaves out those that are too many: anybody who writes there can name heads of authors that nobody knows. Each has its chance in
    /// each pass, so that nobody can keep a new machine out.
    private static func leaveOutStrangers(
        _ listed: inout [AuthorID: Listed], _ known: [KnownAuthor], resting: some Collection<AuthorID>
    ) {
        let strangers = Set(listed.keys).subtracting(known.map(\.author))
        let resting = strangers.intersection(resting)
        let room = max(0, MailboxLimits.authors - known.count)
        let tooMany = strangers.subtracting(resting).shuffled().dropFirst(room)
        for stranger in resting.union(tooMany) { listed[stranger] = nil }
    }

    private enum Found {
        /// It is not there, not all of it has come, or this machine may not read it. That may change at any moment.
        case notThere
        /// It is damaged, and nobody can tell whose it is.
        case torn
        /// It is of a version that this program does not know.
        case laterVersion(UInt8)
        case damaged(Peer, DamagedObject)
        case nobody
        case peer(Int64)
    }

    /// Gets a head, finds out whose it is, and remembers it.
    ///
    /// - Parameter writer: the peer whose it is, if that is known.
    private func get(
        _ author: AuthorID, _ listed: Listed, by writer: Peer?, amongst peers: [Peer]
    ) async throws -> Found {
        let counter = listed.counter
        let name = author.headName(UInt64(counter))
        let bytes: [UInt8]
        do {
            guard let object = try await context.get(name) else { return .notThere }
            bytes = object
        } catch let damage as DamagedObject {
            return writer.map { .damaged($0, damage) } ?? .notThere
        }
        if let version = HeadCodec.laterVersion(of: bytes) { return .laterVersion(version) }
        guard writer != nil || HeadCodec.hasAllParts(bytes) else {
            return bytes.count == listed.size ? .torn : .notThere
        }
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
        guard try !isOutdated(db, counter: Int64(head.counter), time: head.time, of: peer) else { return [] }
        for told in head.zones {
            guard let zone = try context.store.zones.find(db, told.section.zone) else { continue }
            try context.peerZone(zone, peer).noteOwnRightsIfNews(db, told.rights)
        }
        return try ZoneLog.endOwnRights(db, at: peer.id, but: head.zones.map(\.section.zone))
    }

    /// How much the clocks of two machines that meet may differ, and a session may last longer than it seems, in milliseconds.
    private static let clockTolerance: Int64 = 10 * 60 * 1000

    /// Whether a head says less than this machine has heard of the peer: a session has told its rights since, or a newer head in another
    /// mailbox. Counters of heads are mostly the times of their authors' clocks.
    private func isOutdated(_ db: Database, counter: Int64, time: Int64, of peer: Peer) throws -> Bool {
        if let seen = peer.lastSeen.flatMap({ ISO8601.milliseconds(canonical: $0) }),
            time + Self.clockTolerance < seen
        {
            return true
        }
        return try KnownAuthor.greatestCounter(db, peer: peer.id) > counter
    }

    /// Takes a peer that has written for this machine before, and does so no more, for no author. This machine may do nothing at it from
    /// then on, unless it has heard something newer; what a session has said since that head came, the same one does not take back.
    private func forget(_ former: KnownAuthor, of writer: Peer?, at counter: Int64) async throws {
        try await context.store.database.write { db in
            // Nobody can open its time: the counter stands for that.
            guard try former.forgetHead(db, at: counter), let writer,
                try !isOutdated(db, counter: counter, time: counter, of: writer)
            else { return }
            _ = try ZoneLog.endOwnRights(db, at: writer.id)
        }
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
            if listed != nil { true } else { try await isAnything(in: known.author.folder) }
        if isAnyLeft {
            heads.problems.note(
                MailboxError(.wentBack, "something of “\(peer.name)” is gone that was there"), of: peer)
        } else {
            heads.gone.insert(peer.id)
        }
        guard memory.toldGone.insert(name).inserted else { return }
        context.onEvent(isAnyLeft ? .wentBack(machine: peer.name) : .gone(machine: peer.name))
    }

    /// Whether there is anything in a folder, or something else in its place: others can put that there, and it ends no pass.
    private func isAnything(in folder: MailboxFolder) async throws -> Bool {
        do {
            return try await !context.storage.list(folder).isEmpty
        } catch let error as MailboxError where error.code == .invalid {
            return true
        }
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

    /// Notes a head of a later version. It is not damaged: whoever knows that version reads it.
    ///
    /// - Parameter peer: whose it is; nil if nobody can tell.
    private func note(_ version: UInt8, of peer: Peer?, _ memory: inout Memory, _ heads: inout Heads) {
        let author = peer.map { "“\($0.name)”" } ?? "an unknown author"
        let problem = MailboxError(
            .invalid,
            "\(author) has put a head in version \(version) of the format, which this program does not know")
        if let peer {
            heads.problems.note(problem, of: peer)
        } else if goesOn, !memory.hasToldVersion {
            memory.hasToldVersion = true
            context.onEvent(.stopped(machine: nil, problem))
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
