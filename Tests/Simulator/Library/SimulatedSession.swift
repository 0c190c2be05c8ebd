import NIOCore
import PeerSyncChannel
import PeerSyncProtocol
import TestSupport

/// A session of two machines after the handshake, over a line that a script may cut. The session, the encoding and the
/// stores are the program's own; events come one after the other.
///
/// The seed decides which side works next, so reading, applying and acknowledging interleave in all ways that two
/// programs on a network can bring about.
struct SimulatedSession {
    /// The result of a session.
    struct Outcome {
        var recordsMoved = 0
        var isConfirmed = false
        var isCut = false
        var resyncs = 0
        var reconciliations = 0
        var pairings = 0
        var introductions = 0
        /// The side that the other one refused, because it has missed deletions that the other has forgotten.
        var expired: Int?
    }

    /// How a session ends early.
    enum End {
        case never
        /// The line is cut after this many bytes.
        case cut(afterBytes: Int)
        /// A machine applies this many batches, and crashes while it applies the next one.
        case crash(afterBatches: Int)

        /// Draws where a line is cut: mostly between or in small messages, and now and then between pieces of files.
        static func randomCut(_ random: inout SeededGenerator) -> End {
            .cut(afterBytes: Int.random(in: 1...(random.oneIn(4) ? 200_000 : 1000), using: &random))
        }
    }

    /// The bytes on their way to each side.
    private final class Line {
        var bytes = [ByteBuffer(), ByteBuffer()]
        /// How many bytes may still pass before the line is cut; nil for a line that is not cut.
        var bytesLeft: Int?

        func send(_ message: Message, to index: Int) {
            var encoded = ByteBuffer()
            MessageCodec.encode(message, into: &encoded)
            let allowed = min(encoded.readableBytes, bytesLeft ?? .max)
            if let left = bytesLeft { bytesLeft = left - allowed }
            var part = encoded.readSlice(length: allowed)!
            bytes[index].writeBuffer(&part)
        }
    }

    private let replicas: [SimulatedReplica]
    private let line = Line()
    /// How many batches the machines still apply before one crashes just short of the next commit; nil if none
    /// crashes.
    private var appliesLeft: Int?
    private var call: SessionCall
    /// The errors that may end the session.
    private let tolerated: Set<ProtocolError.Code>
    private(set) var sides: [SimulatedSide] = []
    private(set) var outcome = Outcome()
    /// For each side, a message that it has read and is not ready for.
    private var waiting: [Message?] = [nil, nil]

    init(
        _ left: SimulatedReplica, _ right: SimulatedReplica, _ call: SessionCall, end: End,
        tolerating tolerated: Set<ProtocolError.Code> = [.notPaired]
    ) {
        replicas = [left, right]
        self.call = call
        self.tolerated = tolerated
        switch end {
        case .never: break
        case .cut(let bytes): line.bytesLeft = bytes
        case .crash(let batches): appliesLeft = batches
        }
    }

    /// The code that all machines show.
    static let code = try! PairingCode("123-456")

    /// Runs until both sides are in sync, the line is cut, or neither side can do anything more.
    ///
    /// - Parameter pairs: whether the caller's user types the code of the listener.
    mutating func run(_ random: inout SeededGenerator, pairs: Bool = true) throws -> Outcome {
        try connect(pairs ? .ifUnknown(Self.code) : .no)
        while try step(&random) {}
        // Only the caller remembers the pairing.
        if pairs, sides[0].isToldToPair {
            try end()
            try connect(.again(Self.code))
            while try step(&random) {}
        }
        try end()
        return outcome
    }

    /// Connects the two sides and ends the handshake.
    mutating func connect(_ pairing: SessionCall.Pairing) throws {
        call.pairing = pairing
        sides = try [SessionPurpose.call(call), .answer].enumerated().map { [line] index, purpose in
            try SimulatedSide(replicas[index], purpose, code: Self.code) { line.send($0, to: 1 - index) }
        }
        line.bytes = [ByteBuffer(), ByteBuffer()]
        waiting = [nil, nil]
        outcome = Outcome()
        for index in 0...1 { try sides[index].begin(with: replicas[1 - index]) }
    }

    /// Lets a randomly chosen side do something.
    ///
    /// - Returns: whether either had anything to do.
    mutating func step(_ random: inout SeededGenerator) throws -> Bool {
        guard line.bytesLeft != 0 else {
            for side in sides { side.closeFiles() }
            return false
        }
        let index = Int.random(in: 0...1, using: &random)
        let steps: [Step] = [.receive, .pump, .apply, .files].shuffled(using: &random)
        return try work(index, steps, &random) || work(1 - index, steps, &random)
    }

    /// Checks the end of the session.
    mutating func end() throws {
        for side in sides {
            if let fault = side.fault(tolerating: tolerated) {
                throw SimulationFailure("machine \(side.replica.number) ended the session: \(fault)")
            }
        }
        outcome.isCut = line.bytesLeft == 0
        outcome.isConfirmed = sides[0].hasSettled || sides.allSatisfy(\.machine.isInSync)
        if outcome.isConfirmed, !outcome.isCut, let side = sides.first(where: { !$0.areFilesSettled }) {
            throw SimulationFailure("machine \(side.replica.number) waits for files for ever")
        }
        outcome.resyncs = sides.reduce(0) { $0 + $1.resyncs }
        outcome.introductions = sides.reduce(0) { $0 + $1.introductions }
        outcome.pairings = sides[0].machine.didPair ? 1 : 0
        for side in sides { side.closeFiles() }
        outcome.expired = sides.firstIndex(where: \.hasFoundPeerExpired).map { 1 - $0 }
    }

    /// Tries again to open files that another session of the same machine was receiving.
    ///
    /// - Returns: whether there are any.
    func retryBusy() -> Bool { sides.map { $0.files?.retryBusy() }.contains(true) }

    private enum Step {
        case receive, pump, apply, files
    }

    /// Lets a side do the first of the steps that it can do.
    private mutating func work(
        _ index: Int, _ steps: [Step], _ random: inout SeededGenerator
    ) throws -> Bool {
        for step in steps {
            switch step {
            case .receive: if try receive(index) { return true }
            case .pump: if try sides[index].pump() { return true }
            case .apply: if try apply(index) { return true }
            case .files: if try sides[index].stepFiles(&random) { return true }
            }
        }
        return false
    }

    private mutating func apply(_ index: Int) throws -> Bool {
        guard let applied = try sides[index].apply(crashing: appliesLeft == 0) else { return false }
        switch applied {
        case .done: appliesLeft = appliesLeft.map { $0 - 1 }
        case .crashed: line.bytesLeft = 0
        }
        return true
    }

    /// Takes one message off the line.
    private mutating func receive(_ index: Int) throws -> Bool {
        if waiting[index] == nil {
            waiting[index] = try MessageCodec.decode(&line.bytes[index], limit: 1 << 24)
        }
        guard let message = waiting[index], sides[index].isReady(for: message) else { return false }
        waiting[index] = nil
        switch message {
        case .batch(_, let batch): outcome.recordsMoved += batch.records.count
        case .reconcile(let step): outcome.reconciliations += step.isEnd ? 1 : 0
        default: break
        }
        try sides[index].receive(message)
        return true
    }
}

/// An event that must never happen, and did.
struct SimulationFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
