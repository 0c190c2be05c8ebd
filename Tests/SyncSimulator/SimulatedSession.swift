import GRDB
import NIOCore
import RecordStore
import SeededRandom
import SyncModel
import SyncProtocol

/// A session of two machines over a line that a script may cut: the real exchange, the real encoding, one event
/// after the other.
///
/// Which side works next is drawn from the seed, so that reading, applying and acknowledging interleave in all
/// ways that two programs on a network can bring about.
struct SimulatedSession {
    private static let batchLimit = BatchLimit(
        records: 3, bytes: 4096, groupRecords: 6, groupBytes: 8192, recordsCopiedInGroups: 8)

    /// Some batches have fewer records, others do not, so that the triggers are kept silent in both ways.
    private static let manyRecords = 2

    private let sides: [Side]
    private var lines: [ByteBuffer] = [ByteBuffer(), ByteBuffer()]
    /// How many bytes may still pass before the line is cut; nil for a line that holds.
    private var bytesLeft: Int?
    /// How many batches are applied before a machine crashes, just short of the commit; nil for machines that run on.
    private var appliesLeft: Int?
    /// Whether the side that first finds the two equal then asks for everything to be compared.
    private var comparesEverything: Bool

    private final class Side {
        let replica: SimulatedReplica
        let ledger: PeerLedger
        var exchange: ZoneExchange
        var place = ReadingPlace(.start)

        init(_ replica: SimulatedReplica, with other: SimulatedReplica, isCaller: Bool) throws {
            self.replica = replica
            exchange = ZoneExchange(zone: 0, isCaller: isCaller)
            ledger = try replica.ledger(with: other)
        }

        func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
            try replica.database.write { db in
                _ = try replica.store.fold(db)
                return try body(db)
            }
        }
    }

    /// What came of a session.
    struct Outcome {
        var recordsMoved = 0
        var isConfirmed = false
        var isCut = false
        var resyncs = 0
        var reconciliations = 0
        /// The side that was refused because it has missed deletions that the other has forgotten.
        var expired: Int?
    }

    /// How a session comes to an end before its time.
    enum End {
        case never
        /// The line is cut after this many bytes.
        case cut(afterBytes: Int)
        /// A machine crashes while it applies a batch, after this many were applied.
        case crash(afterBatches: Int)
    }

    init(_ left: SimulatedReplica, _ right: SimulatedReplica, end: End, comparesEverything: Bool) throws {
        self.comparesEverything = comparesEverything
        sides = [
            try Side(left, with: right, isCaller: true), try Side(right, with: left, isCaller: false),
        ]
        switch end {
        case .never: break
        case .cut(let bytes): bytesLeft = bytes
        case .crash(let batches): appliesLeft = batches
        }
    }

    /// Runs until both sides are confirmed, the line is cut, or nothing can happen any more.
    mutating func run(_ random: inout SeededGenerator) throws -> Outcome {
        var outcome = Outcome()
        for (index, side) in sides.enumerated() {
            let other = sides[1 - index]
            let held = try other.read { try other.ledger.summary($0).received }
            do {
                let begin = try side.read { try side.ledger.begin($0, heldByPeer: held) }
                send(
                    side.exchange.begin(
                        at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid,
                        recordCount: begin.recordCount), from: index)
            } catch let error as RecordStoreError where error.code == .changeTokenExpired {
                outcome.expired = 1 - index
                return outcome
            }
        }
        var idle = 0
        while idle < 2 {
            if bytesLeft == 0 {
                outcome.isCut = true
                return outcome
            }
            let index = Int.random(in: 0...1, using: &random)
            let first = Bool.random(using: &random)
            let didWork =
                first
                ? try receive(index, &outcome) || pump(index, &outcome)
                : try pump(index, &outcome) || receive(index, &outcome)
            let otherDidWork = didWork ? false : try receive(1 - index, &outcome) || pump(1 - index, &outcome)
            idle = didWork || otherDidWork ? 0 : idle + 1
        }
        outcome.isConfirmed = sides.allSatisfy(\.exchange.isConfirmed)
        return outcome
    }

    private mutating func send(_ message: Message, from index: Int) {
        var bytes = ByteBuffer()
        MessageCodec.encode(message, into: &bytes)
        let allowed = min(bytes.readableBytes, bytesLeft ?? .max)
        if let left = bytesLeft { bytesLeft = left - allowed }
        var part = bytes.readSlice(length: allowed)!
        lines[1 - index].writeBuffer(&part)
    }

    /// Takes one message off the line.
    private mutating func receive(_ index: Int, _ outcome: inout Outcome) throws -> Bool {
        guard let message = try MessageCodec.decode(&lines[index], limit: 1 << 24) else { return false }
        switch message {
        case .begin(let begin):
            let side = sides[index]
            try side.replica.database.write { try side.ledger.noteBegun($0, at: side.exchange.start) }
            try perform(side.exchange.received(begin), index, &outcome)
        case .batch(_, let batch):
            outcome.recordsMoved += batch.records.count
            try perform(sides[index].exchange.received(batch), index, &outcome)
        case .reconcile(let step):
            outcome.reconciliations += step.isEnd ? 1 : 0
            try perform(sides[index].exchange.received(step), index, &outcome)
        case .acknowledge(_, let token):
            try perform(sides[index].exchange.receivedAcknowledgement(token), index, &outcome)
        case .digest(_, let summary): try perform(sides[index].exchange.received(summary), index, &outcome)
        case .resync(_, let round):
            try perform(sides[index].exchange.receivedResync(round: round), index, &outcome)
        default: throw SimulationFailure("an unexpected message")
        }
        return true
    }

    /// Does one thing that the sending half asks for.
    private mutating func pump(_ index: Int, _ outcome: inout Outcome) throws -> Bool {
        let side = sides[index]
        guard let request = side.exchange.nextRequest() else { return false }
        switch request {
        case .read(let token, let includingEcho):
            // Small batches, so that cuts and interleavings fall between them.
            let place = side.place.at(token)
            let (batch, next) = try side.read {
                try side.ledger.nextBatch(
                    $0, after: place, includingEcho: includingEcho, limit: Self.batchLimit)
            }
            side.place = next
            if let message = side.exchange.batchRead(batch) { send(message, from: index) }
        case .readNamed(let names):
            let records = try side.read { try side.ledger.states($0, named: names) }
            if let message = side.exchange.namedRead(records) { send(message, from: index) }
        case .summarize:
            let summary = try side.read { try side.ledger.summary($0) }
            try perform(side.exchange.summarized(summary), index, &outcome)
        }
        return true
    }

    private mutating func perform(
        _ actions: [ZoneExchange.Action], _ index: Int, _ outcome: inout Outcome
    ) throws {
        let side = sides[index]
        for action in actions {
            switch action {
            case .send(let message):
                send(message, from: index)
            case .apply(let batch):
                if try apply(batch, side) {
                    try perform(side.exchange.applied(batch), index, &outcome)
                } else {
                    bytesLeft = 0
                    return
                }
            case .acknowledged(let token):
                try side.replica.database.write { try side.ledger.acknowledge($0, token) }
            case .voidReceived:
                try side.replica.database.write { try side.ledger.voidReceived($0) }
            case .checkRecords:
                let check = try side.read { try side.replica.store.check($0) }
                guard check.isSound else {
                    throw SimulationFailure("machine \(side.replica.number) is not sound: \(check)")
                }
                try perform(side.exchange.recordsChecked(), index, &outcome)
            case .takeInventory:
                let (items, token) = try side.read { try side.ledger.inventory($0) }
                try perform(side.exchange.inventoryTaken(items, at: token), index, &outcome)
            case .resolve(let ids):
                let names = try side.read { try side.ledger.names($0, of: ids) }
                try perform(side.exchange.resolved(names), index, &outcome)
            case .compare(let theirs):
                let ours = try side.read { try side.ledger.summary($0) }
                switch side.exchange.compare(ours, with: theirs) {
                case .notYet: break
                case .different:
                    outcome.resyncs += 1
                    try perform(side.exchange.resync(), index, &outcome)
                case .equal:
                    guard comparesEverything else { break }
                    comparesEverything = false
                    try perform(side.exchange.compareEverything(), index, &outcome)
                }
            case .wake:
                break
            }
        }
    }
}

extension SimulatedSession {
    /// Applies a batch.
    ///
    /// - Returns: false when the machine crashed before it was durable.
    private mutating func apply(_ batch: ChangeBatch, _ side: Side) throws -> Bool {
        struct Crash: Error {}
        do {
            try side.replica.database.write { db in
                _ = try side.ledger.apply(db, batch, manyRecords: Self.manyRecords)
                if appliesLeft == 0 { throw Crash() }
            }
        } catch is Crash {
            try side.replica.restart()
            return false
        }
        appliesLeft = appliesLeft.map { $0 - 1 }
        return true
    }
}

/// Something that must never happen, and did.
struct SimulationFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
