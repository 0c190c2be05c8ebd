import TestSupport
import Testing

@testable import PeerSyncChannel

/// Two machines that are about to pair, each with its own view of the code, the channel and the keys.
struct PairingScene {
    var code: PairingCode
    var typedCode: PairingCode
    var handshakeHash = SecretBytes.random(count: 32).revealed
    var responderHandshakeHash: [UInt8]
    let initiatorStatic = KeyPair.generate().publicKey
    let responderStatic = KeyPair.generate().publicKey

    init() throws {
        code = try PairingCode("042-917")
        typedCode = try PairingCode("042917")
        responderHandshakeHash = handshakeHash
    }

    var initiator: PairingInitiator {
        PairingInitiator(
            code: typedCode, handshakeHash: handshakeHash, initiatorStatic: initiatorStatic,
            responderStatic: responderStatic)
    }

    var responder: PairingResponder {
        PairingResponder(
            code: code, handshakeHash: responderHandshakeHash, initiatorStatic: initiatorStatic,
            responderStatic: responderStatic)
    }
}

/// The four messages of a pairing, in their order on the wire.
enum PairingStep: Int, CaseIterable, Sendable {
    case initiatorShare, responderShare, initiatorTag, responderTag

    var length: Int { rawValue < 2 ? 32 : 64 }
}

/// Runs a pairing over a wire on which a test may do as it likes.
func pair(
    _ initiator: inout PairingInitiator, _ responder: inout PairingResponder,
    over wire: (PairingStep, [UInt8]) -> [UInt8] = { $1 }
) throws {
    let share = try responder.receive(share: wire(.initiatorShare, try initiator.start()))
    let tag = try initiator.receive(share: wire(.responderShare, share))
    let answer = try responder.verify(tag: wire(.initiatorTag, tag))
    try initiator.verify(tag: wire(.responderTag, answer))
}

struct PairingVectorTests {
    struct Vector: Decodable {
        struct Party: Decodable {
            let `static`: Hex
            let scalar: Hex
            let share: Hex
            let tag: Hex
        }
        let code: String
        let handshakeHash: Hex
        let initiator: Party
        let responder: Party
    }

    @Test func everyMessageIsThatOfTheVector() throws {
        let vector: Vector = try Repository.vector("pairing.json")
        let code = try PairingCode(vector.code)
        let initiatorStatic = try PublicKey(vector.initiator.static.bytes)
        let responderStatic = try PublicKey(vector.responder.static.bytes)
        var initiator = PairingInitiator(
            code: code, handshakeHash: vector.handshakeHash.bytes, initiatorStatic: initiatorStatic,
            responderStatic: responderStatic, scalar: vector.initiator.scalar.secret)
        var responder = PairingResponder(
            code: code, handshakeHash: vector.handshakeHash.bytes, initiatorStatic: initiatorStatic,
            responderStatic: responderStatic, scalar: vector.responder.scalar.secret)
        #expect(try initiator.start() == vector.initiator.share.bytes)
        #expect(try responder.receive(share: vector.initiator.share.bytes) == vector.responder.share.bytes)
        #expect(try initiator.receive(share: vector.responder.share.bytes) == vector.initiator.tag.bytes)
        #expect(try responder.verify(tag: vector.initiator.tag.bytes) == vector.responder.tag.bytes)
        try initiator.verify(tag: vector.responder.tag.bytes)
        #expect(initiator.isConfirmed && responder.isConfirmed)
    }
}

struct PairingTests {
    @Test func machinesThatKnowTheCodePair() throws {
        let scene = try PairingScene()
        var (initiator, responder) = (scene.initiator, scene.responder)
        try pair(&initiator, &responder)
        #expect(initiator.isConfirmed && responder.isConfirmed)
    }

    @Test func theSideThatTypedTheCodeIsTheFirstToShowThatItKnowsIt() throws {
        let scene = try PairingScene()
        var (initiator, responder) = (scene.initiator, scene.responder)
        let share = try responder.receive(share: try initiator.start())
        #expect(!responder.isConfirmed)
        let tag = try initiator.receive(share: share)
        #expect(!initiator.isConfirmed)
        _ = try responder.verify(tag: tag)
        #expect(responder.isConfirmed && !initiator.isConfirmed)
    }

    @Test func aWrongCodeFailsAtTheResponder() throws {
        var scene = try PairingScene()
        scene.typedCode = try PairingCode("042-918")
        var (initiator, responder) = (scene.initiator, scene.responder)
        let share = try responder.receive(share: try initiator.start())
        let tag = try initiator.receive(share: share)
        #expect(failure { try responder.verify(tag: tag) } == .confirmationFailed)
        #expect(failure { try responder.verify(tag: tag) } == .wrongState)
        #expect(!responder.isConfirmed)
    }

    @Test func aWrongCodeAtTheResponderFailsAtTheInitiator() throws {
        // A responder that does not check and answers all the same learns nothing and is found out.
        var scene = try PairingScene()
        scene.code = try PairingCode("142-917")
        var (initiator, responder) = (scene.initiator, scene.responder)
        let share = try responder.receive(share: try initiator.start())
        _ = try initiator.receive(share: share)
        #expect(
            failure { try initiator.verify(tag: [UInt8](repeating: 0, count: 64)) } == .confirmationFailed)
        #expect(failure { try initiator.verify(tag: [UInt8](repeating: 0, count: 64)) } == .wrongState)
        #expect(!initiator.isConfirmed)
    }

    @Test(arguments: PairingStep.allCases) func anyChangedByteEndsThePairing(in step: PairingStep) throws {
        let scene = try PairingScene()
        for index in 0..<step.length {
            var (initiator, responder) = (scene.initiator, scene.responder)
            let code = failure {
                try pair(&initiator, &responder) { $0 == step ? $1.flipped(at: index) : $1 }
            }
            // A changed share is mostly no point of the group, and else leads to another key.
            #expect(code == .confirmationFailed || code == .lowOrderPoint, "\(step), byte \(index)")
            #expect(!initiator.isConfirmed)
            #expect(step == .responderTag || !responder.isConfirmed)
        }
    }

    @Test(arguments: PairingStep.allCases) func anyOtherLengthEndsThePairing(in step: PairingStep) throws {
        let scene = try PairingScene()
        for count in Array(0..<step.length) + [step.length + 1] {
            var (initiator, responder) = (scene.initiator, scene.responder)
            let code = failure {
                try pair(&initiator, &responder) { $0 == step ? Array(($1 + [0]).prefix(count)) : $1 }
            }
            #expect(code == (step.length == 32 ? .malformedMessage : .confirmationFailed))
        }
    }

    @Test func stepsOutOfTurnAreRefusedAndEndThePairing() throws {
        let scene = try PairingScene()
        let tag = [UInt8](repeating: 0, count: 64)

        var early = scene.initiator
        #expect(failure { try early.verify(tag: tag) } == .wrongState)
        #expect(failure { try early.start() } == .wrongState)

        var twice = scene.initiator
        _ = try twice.start()
        #expect(failure { try twice.start() } == .wrongState)

        var hasty = scene.responder
        #expect(failure { try hasty.verify(tag: tag) } == .wrongState)
        var other = scene.initiator
        let share = try other.start()
        #expect(failure { try hasty.receive(share: share) } == .wrongState)

        var repeated = scene.responder
        _ = try repeated.receive(share: share)
        #expect(failure { try repeated.receive(share: share) } == .wrongState)
    }
}

struct PairingAttackTests {
    @Test func theNeutralElementAndOtherInvalidSharesAreRefused() throws {
        let scene = try PairingScene()
        let vectors: CPaceTests.Vectors = try Repository.vector("cpace-ristretto255.json")
        for share in vectors.invalidShares {
            var responder = scene.responder
            #expect(failure { try responder.receive(share: share.bytes) } == .lowOrderPoint)
            #expect(failure { try responder.verify(tag: []) } == .wrongState)
            var initiator = scene.initiator
            _ = try initiator.start()
            #expect(failure { try initiator.receive(share: share.bytes) } == .lowOrderPoint)
            #expect(failure { try initiator.verify(tag: []) } == .wrongState)
        }
    }

    @Test func aReflectedShareIsRefused() throws {
        let scene = try PairingScene()
        var initiator = scene.initiator
        let share = try initiator.start()
        #expect(failure { try initiator.receive(share: share) } == .reflectedShare)
        #expect(failure { try initiator.receive(share: share) } == .wrongState)

        // The responder's share is new each time; only a preset scalar lets a test meet it.
        let scalar = CPace.sampleScalar()
        let responder = PairingResponder(
            code: scene.code, handshakeHash: scene.handshakeHash, initiatorStatic: scene.initiatorStatic,
            responderStatic: scene.responderStatic, scalar: scalar)
        var (first, second) = (responder, responder)
        let own = try first.receive(share: share)
        #expect(failure { try second.receive(share: own) } == .reflectedShare)
    }

    /// An attacker who does not know the code and gives the initiator its own tag back.
    @Test func anEchoedTagIsRefused() throws {
        let scene = try PairingScene()
        var (initiator, responder) = (scene.initiator, scene.responder)
        let share = try responder.receive(share: try initiator.start())
        let tag = try initiator.receive(share: share)
        #expect(failure { try initiator.verify(tag: tag) } == .confirmationFailed)
    }

    /// The same against a machine that shows a code, played by another run of it: its messages go round.
    @Test func twoInitiatorsCannotBeConnected() throws {
        let scene = try PairingScene()
        var (one, other) = (scene.initiator, scene.initiator)
        let shares = (try one.start(), try other.start())
        let tags = (try one.receive(share: shares.1), try other.receive(share: shares.0))
        #expect(failure { try one.verify(tag: tags.1) } == .confirmationFailed)
        #expect(failure { try other.verify(tag: tags.0) } == .confirmationFailed)
    }

    @Test func anotherChannelFails() throws {
        var scene = try PairingScene()
        scene.responderHandshakeHash = scene.handshakeHash.flipped(at: 31)
        var (initiator, responder) = (scene.initiator, scene.responder)
        #expect(failure { try pair(&initiator, &responder) } == .confirmationFailed)
    }

    @Test func swappedStaticKeysFail() throws {
        let scene = try PairingScene()
        var initiator = scene.initiator
        var responder = PairingResponder(
            code: scene.code, handshakeHash: scene.handshakeHash, initiatorStatic: scene.responderStatic,
            responderStatic: scene.initiatorStatic)
        #expect(failure { try pair(&initiator, &responder) } == .confirmationFailed)
    }

    @Test func aThirdStaticKeyOnEitherSideFails() throws {
        let scene = try PairingScene()
        let stranger = KeyPair.generate().publicKey
        for (seenInitiator, seenResponder) in [
            (stranger, scene.responderStatic), (scene.initiatorStatic, stranger),
        ] {
            var initiator = scene.initiator
            var responder = PairingResponder(
                code: scene.code, handshakeHash: scene.handshakeHash, initiatorStatic: seenInitiator,
                responderStatic: seenResponder)
            #expect(failure { try pair(&initiator, &responder) } == .confirmationFailed)
        }
    }

    /// A machine in the middle holds a Noise channel with each side and passes the pairing on unchanged: both
    /// people use the right code, and it must fail all the same.
    @Test func aMachineInTheMiddleIsNoticed() throws {
        let code = try PairingCode("042-917")
        let victims = (KeyPair.generate(), KeyPair.generate())
        let middle = KeyPair.generate()
        func connect(_ first: KeyPair, _ second: KeyPair) throws -> (TransportCiphers, TransportCiphers) {
            var initiator = NoiseHandshake(role: .initiator, staticKey: first, prologue: [])
            var responder = NoiseHandshake(role: .responder, staticKey: second, prologue: [])
            _ = try responder.readMessage(try initiator.writeMessage())
            _ = try initiator.readMessage(try responder.writeMessage())
            _ = try responder.readMessage(try initiator.writeMessage())
            return (try initiator.finish(), try responder.finish())
        }
        let near = try connect(victims.0, middle).0
        let far = try connect(middle, victims.1).1
        #expect(near.handshakeHash != far.handshakeHash)
        var initiator = PairingInitiator(
            code: code, handshakeHash: near.handshakeHash, initiatorStatic: victims.0.publicKey,
            responderStatic: near.remoteStatic)
        var responder = PairingResponder(
            code: code, handshakeHash: far.handshakeHash, initiatorStatic: far.remoteStatic,
            responderStatic: victims.1.publicKey)
        #expect(failure { try pair(&initiator, &responder) } == .confirmationFailed)
    }
}
