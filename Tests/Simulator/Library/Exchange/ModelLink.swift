import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

/// A connection of two machines in a search, with what is on its way.
struct ModelLink: Sendable {
    /// The caller and the listener.
    let machines: [Int]
    private(set) var sides: [ModelSide] = []
    /// The messages on their way to each side, in order, each with its hash.
    private(set) var lines: [[(message: Message, hash: Int)]] = [[], []]
    /// The hashes of the sides: to find one takes longer than a step.
    private var hashes = [0, 0]

    init(_ caller: Int, _ listener: Int) { machines = [caller, listener] }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hashes)
        for line in lines {
            hasher.combine(line.count)
            for (_, hash) in line { hasher.combine(hash) }
        }
    }

    /// Connects the two, and lets them greet each other until both exchange records. Whatever was on its way is lost.
    mutating func connect(_ stores: inout [ModelStore]) throws {
        lines = [[], []]
        sides = try (0...1).map { index in
            let identity = Session.Identity(
                key: try Self.key(machines[index]), replica: ReplicaID(rawValue: UInt64(machines[index] + 1)),
                instance: UInt64(machines[index] + 1), displayName: "machine \(machines[index])")
            let session = Session(identity, index == 0 ? .call(SessionCall()) : .answer)
            return ModelSide(session, peer: machines[1 - index])
        }
        for index in 0...1 {
            let channel = SecuredChannel(
                remoteKey: try Self.key(machines[1 - index]), handshakeHash: [UInt8](repeating: 7, count: 32))
            try change(index, &stores) { side, store throws in try side.begin(channel, &store) }
        }
        while let index = (0...1).first(where: { !sides[$0].session.isExchanging && !lines[$0].isEmpty }) {
            try receive(index, &stores)
        }
        guard sides.allSatisfy(\.session.isExchanging) else {
            throw SimulationFailure("the two do not come to exchange records")
        }
    }

    private static func key(_ machine: Int) throws -> PublicKey {
        try PublicKey([UInt8](repeating: UInt8(machine + 1), count: 32))
    }

    /// Whether the next message may be received.
    func canReceive(_ index: Int) -> Bool {
        lines[index].first.map { sides[index].isReady(for: $0.message) } ?? false
    }

    mutating func receive(_ index: Int, _ stores: inout [ModelStore]) throws {
        let message = lines[index].removeFirst().message
        try change(index, &stores) { side, store throws in try side.receive(message, &store) }
    }

    /// Lets a side do something, and puts what it sends on its way.
    mutating func change(
        _ index: Int, _ stores: inout [ModelStore],
        _ body: (inout ModelSide, inout ModelStore) throws -> [Message]
    ) throws {
        for message in try body(&sides[index], &stores[machines[index]]) {
            lines[1 - index].append((message, StructuralHash.of(message)))
        }
        hashes[index] = sides[index].hash
    }
}
