import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

/// A connection of two machines in a search, with what is on its way.
struct ModelLink {
    /// What a side, or the engine around it, does.
    enum Work: String {
        case receive = "receives a message"
        case read = "reads from the store"
        case handOver = "hands over what it has read"
        case commit = "commits a batch"
        case tellCommitted = "tells the session what is committed"
        case hearOfChange = "hears that the store has changed"
    }

    /// The caller and the listener.
    let machines: [Int]
    private var changes: [KnownChanges.Change] = []
    /// The messages on their way to each side, in order, each with its hash.
    private(set) var lines: [[HashedMessage]] = [[], []]
    private let known: KnownChanges

    /// - Parameter known: what was found out before, shared by all states of a search.
    init(_ caller: Int, _ listener: Int, known: KnownChanges) {
        machines = [caller, listener]
        self.known = known
    }

    /// The caller's side, or the listener's.
    func side(_ index: Int) -> ModelSide { changes[index].side }

    func hash(into hasher: inout Hasher) {
        for change in changes { hasher.combine(change.side.hash) }
        for line in lines {
            hasher.combine(line.count)
            for message in line { hasher.combine(message.hash) }
        }
    }

    /// Connects the two, and lets them greet each other until both exchange records. Whatever was on its way is lost.
    mutating func connect(_ stores: inout [ModelStore]) throws {
        let key = machines.map { stores[$0] }
        if let known = known.beginnings[key] {
            (changes, lines) = (known.changes, known.lines)
        } else {
            try greet(&stores)
            known.beginnings[key] = (changes, lines)
        }
    }

    private mutating func greet(_ stores: inout [ModelStore]) throws {
        lines = [[], []]
        let sides = try (0...1).map { index in
            let identity = Session.Identity(
                key: try Self.key(machines[index]), replica: ReplicaID(rawValue: UInt64(machines[index] + 1)),
                instance: UInt64(machines[index] + 1), displayName: "machine \(machines[index])")
            let session = Session(identity, index == 0 ? .call(SessionCall()) : .answer)
            return ModelSide(session, peer: machines[1 - index])
        }
        changes = sides.indices.map {
            KnownChanges.Change(side: sides[$0], store: stores[machines[$0]], sent: [])
        }
        for index in 0...1 {
            let channel = SecuredChannel(
                remoteKey: try Self.key(machines[1 - index]), handshakeHash: [UInt8](repeating: 7, count: 32))
            try change(index, &stores) { side, store throws in try side.begin(channel, &store) }
        }
        while let index = (0...1).first(where: { !side($0).session.isExchanging && !lines[$0].isEmpty }) {
            try take(index, .receive, &stores)
        }
        guard (0...1).allSatisfy({ side($0).session.isExchanging }) else {
            throw SimulationFailure("the two do not come to exchange records")
        }
    }

    private static func key(_ machine: Int) throws -> PublicKey {
        try PublicKey([UInt8](repeating: UInt8(machine + 1), count: 32))
    }

    /// What a side can do now.
    func work(of index: Int) -> [Work] {
        let side = changes[index].side
        var works: [Work] = []
        if side.hasCommitted { works.append(.tellCommitted) }
        if side.canCommit { works.append(.commit) }
        if let next = lines[index].first, side.isReady(for: next.message) { works.append(.receive) }
        if side.hasRead { works.append(.handOver) }
        if side.canRead { works.append(.read) }
        return works
    }

    mutating func take(_ index: Int, _ work: Work, _ stores: inout [ModelStore]) throws {
        let message = work == .receive ? lines[index].removeFirst() : nil
        try change(index, &stores, key: message?.hash ?? work.hashValue) { side, store throws in
            switch work {
            case .receive: return try message.map { try side.receive($0.message, &store) } ?? []
            case .read: side.read(store)
            case .handOver: return try side.handOver(&store)
            case .commit: side.commit(&store)
            case .tellCommitted: return try side.tellCommitted(&store)
            case .hearOfChange: side.storeChanged()
            }
            return []
        }
    }

    /// Lets a side do something, and puts what it sends on its way. What a side does follows from its state, its store and
    /// what happens to it; most of that has happened before, in another order of what the others did.
    ///
    /// - Parameter key: what happens to the side; nil if that is not worth to be remembered.
    private mutating func change(
        _ index: Int, _ stores: inout [ModelStore], key: Int? = nil,
        _ body: (inout ModelSide, inout ModelStore) throws -> [Message]
    ) throws {
        let machine = machines[index]
        let place = key.map {
            KnownChanges.Key(side: changes[index].side.hash, store: stores[machine], happening: $0)
        }
        let change: KnownChanges.Change
        if let place, let known = known[place] {
            change = known
        } else {
            var (side, store) = (changes[index].side, stores[machine])
            let sent = try body(&side, &store).map(HashedMessage.init)
            side.settle()
            change = KnownChanges.Change(side: side, store: store, sent: sent)
            if let place { known[place] = change }
        }
        changes[index] = change
        stores[machine] = change.store
        lines[1 - index] += change.sent
    }
}

/// A message with its hash, which takes longer to find than a step.
struct HashedMessage {
    let message: Message
    let hash: Int

    init(_ message: Message) {
        self.message = message
        hash = StructuralHash.of(message)
    }
}

/// What came of everything that has happened to a side so far.
final class KnownChanges {
    struct Key: Hashable {
        let side: Int
        let store: ModelStore
        let happening: Int
    }

    /// An object, so that a state of a search copies a reference and not a session.
    final class Change {
        let side: ModelSide
        let store: ModelStore
        let sent: [HashedMessage]

        init(side: ModelSide, store: ModelStore, sent: [HashedMessage]) {
            self.side = side
            self.store = store
            self.sent = sent
        }
    }

    /// So many fit into memory, beside the hashes of all states.
    private static let most = 2_000_000

    private var changes: [Key: Change] = [:]
    /// How the sides of two stores stand when they have greeted each other.
    var beginnings: [[ModelStore]: (changes: [Change], lines: [[HashedMessage]])] = [:]

    subscript(key: Key) -> Change? {
        get { changes[key] }
        set {
            if changes.count >= Self.most { changes.removeAll(keepingCapacity: true) }
            changes[key] = newValue
        }
    }
}
