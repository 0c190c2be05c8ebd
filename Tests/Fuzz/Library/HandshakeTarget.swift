import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// Noise against a stranger: one who sends anything, and one who has a key of his own and does everything right but for
/// what he says.
///
/// All keys are fixed, so that an input always leads to the same. What can be computed once is: a copy of a machine is a
/// machine, so most inputs cost no more than what the other side's bytes cost.
enum HandshakeTarget {
    static let modes = 16

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0, 1: try listener(input.rest())
        case 2: try caller(input.rest())
        case 3: try proof(input.rest())
        case 4: try honestCaller(&input)
        case 5: try honestListener(&input)
        case 6...9: try TransportTarget.run(&input)
        default: try PairingTarget.run(mode - 10, &input)
        }
    }

    static func keyPair(_ byte: UInt8) -> KeyPair {
        try! KeyPair(secretKey: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static let app: AppID = "scorebook"
    private static let own = keyPair(1)
    private static let ephemeral = keyPair(2)
    private static let stranger = keyPair(3)
    private static let strangersEphemeral = keyPair(4)

    private static let newListener = LinkHandshake(
        role: .responder, app: app, staticKey: own, ephemeral: ephemeral)

    private static let startedCaller: (LinkHandshake, first: ByteBuffer) = {
        var handshake = LinkHandshake(role: .initiator, app: app, staticKey: own, ephemeral: ephemeral)
        let first = try! handshake.start()!
        return (handshake, first)
    }()

    /// A stranger who has begun as he should.
    private static let strangerAsCaller: (noise: NoiseHandshake, first: [UInt8]) = {
        var noise = NoiseHandshake(
            role: .initiator, staticKey: stranger, prologue: Preamble.prologue(app),
            ephemeral: strangersEphemeral)
        let first = try! noise.writeMessage(payload: Preamble.payload)
        return (noise, first)
    }()

    /// The listener that has answered him, and waits for his proof.
    private static let askingListener: (handshake: LinkHandshake, second: [UInt8]) = {
        var handshake = newListener
        handshake.append(frame(strangerAsCaller.first))
        guard case .send(let second)? = try! handshake.next() else {
            preconditionFailure("the listener does not answer")
        }
        return (handshake, content(second))
    }()

    /// The stranger, when he has read that answer.
    private static let answeredStranger: NoiseHandshake = {
        var noise = strangerAsCaller.noise
        _ = try! noise.readMessage(askingListener.second)
        return noise
    }()

    /// A stranger whom this side has called.
    private static let calledStranger: NoiseHandshake = {
        var noise = NoiseHandshake(
            role: .responder, staticKey: stranger, prologue: Preamble.prologue(app),
            ephemeral: strangersEphemeral)
        _ = try! noise.readMessage(content(startedCaller.first))
        return noise
    }()

    static func frame(_ bytes: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt16(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }

    // MARK: One side, and bytes

    private struct Outcome {
        var sent: [[UInt8]] = []
        var ciphers: TransportCiphers?
        var isRefused = false
        var error: (any Error)?
    }

    /// Runs a side on bytes, in two pieces, to its end.
    private static func run(_ handshake: inout LinkHandshake, _ bytes: ByteBuffer) throws -> Outcome {
        var outcome = Outcome()
        var rest = bytes
        let pieces = [rest.readSlice(length: rest.readableBytes / 2)!, rest]
        var steps = 0
        do {
            for piece in pieces {
                handshake.append(piece)
                while let step = try handshake.next() {
                    steps += 1
                    try expect(steps <= 3, "a handshake of \(steps) steps")
                    switch step {
                    case .send(let bytes): outcome.sent.append(content(bytes))
                    case .refuse(let bytes, let error):
                        outcome.sent.append(content(bytes))
                        outcome.isRefused = error.code == .unsupportedVersion
                    case .done(let ciphers, _): outcome.ciphers = ciphers
                    }
                }
            }
        } catch let error as BrokenInvariant {
            throw error
        } catch {
            outcome.error = error
            try expect(
                error is ProtocolError || error is SecureChannelError, "the handshake threw \(error)")
        }
        if outcome.error != nil || outcome.isRefused || outcome.ciphers != nil {
            handshake.append(frame(strangerAsCaller.first))
            try expect(try handshake.next() == nil, "the handshake goes on after its end")
        }
        return outcome
    }

    private static func content(_ frame: ByteBuffer) -> [UInt8] {
        Array(frame.readableBytesView.dropFirst(2))
    }

    private enum Due {
        case nothing, answer, refusal, error
    }

    /// What a listener owes to bytes.
    private static func due(_ bytes: [UInt8]) -> Due {
        guard bytes.count >= 2 else { return .nothing }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        if length == 0 || length > ProtocolLimits.maximumHandshakeFrame { return .error }
        if bytes.count < 2 + length { return .nothing }
        let payload = Array(bytes[2..<2 + length].dropFirst(32))
        if payload.count < 8 || !payload.starts(with: Preamble.payload.prefix(6)) { return .error }
        return payload[6] == ProtocolLimits.majorVersion ? .answer : .refusal
    }

    /// A listener answers a caller of its version, refuses one of another, and says nothing to anything else.
    private static func listener(_ bytes: [UInt8]) throws {
        var handshake = newListener
        let outcome = try run(&handshake, ByteBuffer(bytes: bytes))
        try expect(outcome.ciphers == nil, "a handshake without a proof")
        switch due(bytes) {
        case .nothing: try expect(outcome.sent.isEmpty && outcome.error == nil, "an answer to nothing")
        case .error: try expect(outcome.sent.isEmpty && outcome.error != nil, "a word to a stranger")
        case .refusal:
            try expect(
                outcome.sent == [Preamble.refusal] && outcome.isRefused,
                "another version is not refused")
        case .answer:
            // A key of low order gets none.
            try expect(
                outcome.sent.isEmpty ? outcome.error != nil : outcome.sent[0].count == 96,
                "a caller is not answered")
        }
    }

    /// A caller never takes bytes for an answer that were not made for it.
    private static func caller(_ bytes: [UInt8]) throws {
        var handshake = startedCaller.0
        let outcome = try run(&handshake, ByteBuffer(bytes: bytes))
        try expect(outcome.ciphers == nil && outcome.sent.isEmpty, "the caller took \(bytes) for an answer")
        if let error = outcome.error as? ProtocolError, error.code == .unsupportedVersion {
            try expect(bytes.starts(with: [0, 8] + Preamble.refusal.prefix(7)), "an unsaid refusal")
        }
    }

    /// A listener never takes bytes for the proof that were not made for it.
    private static func proof(_ bytes: [UInt8]) throws {
        var handshake = askingListener.handshake
        let outcome = try run(&handshake, ByteBuffer(bytes: bytes))
        try expect(outcome.ciphers == nil && outcome.sent.isEmpty, "the listener took \(bytes) for a proof")
    }

    // MARK: Two sides

    /// A caller who does everything right, but for a payload or what he changes on the way.
    private static func honestCaller(_ input: inout FuzzInput) throws {
        if input.flag() {
            let payload = (input.flag() ? Preamble.payload : []) + input.take(input.number(below: 64))
            var handshake = newListener
            var noise = NoiseHandshake(
                role: .initiator, staticKey: stranger, prologue: Preamble.prologue(app),
                ephemeral: strangersEphemeral)
            let first = try run(&handshake, frame(try noise.writeMessage(payload: payload)))
            let isGood = payload.starts(with: Preamble.payload.prefix(7)) && payload.count >= 8
            try expect((first.error == nil && !first.isRefused) == isGood, "the answer to \(payload)")
            if isGood { try expect(try noise.readMessage(first.sent[0]).isEmpty, "an answer with a payload") }
            return
        }
        let change = (Int(input.byte()), input.byte())
        var noise = answeredStranger
        var third = try noise.writeMessage(payload: input.take(input.number(below: 64)))
        let isChanged = change.1 != 0 && change.0 < third.count
        if isChanged { third[change.0] ^= change.1 }
        var handshake = askingListener.handshake
        let last = try run(&handshake, frame(third))
        guard !isChanged else { return try expect(last.ciphers == nil, "a proof was changed, and taken") }
        try agree(last.ciphers, try noise.finish(), knowing: stranger.publicKey)
    }

    /// The same for a listener.
    private static func honestListener(_ input: inout FuzzInput) throws {
        let change = (Int(input.byte()), input.byte())
        let payload = input.take(input.number(below: 64))
        var noise = calledStranger
        var second = try noise.writeMessage(payload: payload)
        let isChanged = change.1 != 0 && change.0 < second.count
        if isChanged { second[change.0] ^= change.1 }
        var handshake = startedCaller.0
        let outcome = try run(&handshake, frame(second))
        guard !isChanged else {
            return try expect(outcome.ciphers == nil && outcome.sent.isEmpty, "a change was not seen")
        }
        try expect(outcome.sent.count == 1, "an honest listener gets no proof")
        _ = try noise.readMessage(outcome.sent[0])
        try agree(outcome.ciphers, try noise.finish(), knowing: stranger.publicKey)
    }

    private static func agree(_ own: TransportCiphers?, _ theirs: TransportCiphers, knowing key: PublicKey)
        throws
    {
        guard var own else { throw BrokenInvariant(description: "an honest handshake fails") }
        var theirs = theirs
        try expect(own.handshakeHash == theirs.handshakeHash, "two names for one session")
        try expect(own.remoteStatic == key && theirs.remoteStatic == Self.own.publicKey, "a wrong identity")
        try expect(try theirs.receive.open(own.send.seal([1])) == [1], "the keys differ")
        try expect(try own.receive.open(theirs.send.seal([2])) == [2], "the keys differ")
    }
}
