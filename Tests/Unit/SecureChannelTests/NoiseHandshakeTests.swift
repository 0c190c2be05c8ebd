import TestSupport
import Testing

@testable import PeerSyncChannel

/// The one published session, byte for byte.
struct NoiseVectorTests {
    struct Vector: Decodable {
        struct Keys: Decodable {
            let `static`: Hex
            let ephemeral: Hex

            func handshake(as role: NoiseHandshake.Role, prologue: Hex) throws -> NoiseHandshake {
                NoiseHandshake(
                    role: role, staticKey: try KeyPair(secretKey: `static`.secret), prologue: prologue.bytes,
                    ephemeral: try KeyPair(secretKey: ephemeral.secret))
            }
        }
        struct Message: Decodable {
            let from: String
            let payload: Hex
            let message: Hex
        }
        let protocolName: String
        let prologue: Hex
        let initiator: Keys
        let responder: Keys
        let handshake: [Message]
        let handshakeHash: Hex
        let transport: [Message]
    }

    @Test func theWholeSessionIsThatOfTheVector() throws {
        let vector: Vector = try Repository.vector("noise-xx.json")
        #expect(NoiseHandshake.protocolName == vector.protocolName)
        #expect(vector.handshake.count == 3)
        #expect(vector.transport.count == 3)
        var initiator = try vector.initiator.handshake(as: .initiator, prologue: vector.prologue)
        var responder = try vector.responder.handshake(as: .responder, prologue: vector.prologue)

        for (index, message) in vector.handshake.enumerated() {
            let isInitiators = message.from == "initiator"
            let written =
                isInitiators
                ? try initiator.writeMessage(payload: message.payload.bytes)
                : try responder.writeMessage(payload: message.payload.bytes)
            #expect(written == message.message.bytes, "handshake message \(index)")
            let read =
                isInitiators
                ? try responder.readMessage(message.message.bytes)
                : try initiator.readMessage(message.message.bytes)
            #expect(read == message.payload.bytes, "handshake message \(index)")
        }
        #expect(initiator.isComplete && responder.isComplete)
        #expect(initiator.handshakeHash == vector.handshakeHash.bytes)
        #expect(responder.handshakeHash == vector.handshakeHash.bytes)

        var atInitiator = try initiator.finish()
        var atResponder = try responder.finish()
        #expect(atInitiator.handshakeHash == vector.handshakeHash.bytes)
        let responderKey = try KeyPair(secretKey: vector.responder.static.secret).publicKey
        #expect(atInitiator.remoteStatic == responderKey)
        let initiatorKey = try KeyPair(secretKey: vector.initiator.static.secret).publicKey
        #expect(atResponder.remoteStatic == initiatorKey)

        for (index, message) in vector.transport.enumerated() {
            let isInitiators = message.from == "initiator"
            let sealed =
                isInitiators
                ? try atInitiator.send.seal(message.payload.bytes)
                : try atResponder.send.seal(message.payload.bytes)
            #expect(sealed == message.message.bytes, "transport message \(index)")
            let opened =
                isInitiators
                ? try atResponder.receive.open(message.message.bytes)
                : try atInitiator.receive.open(message.message.bytes)
            #expect(opened == message.payload.bytes, "transport message \(index)")
        }
    }
}

/// What a handshake between honest machines gives.
struct NoiseHandshakeTests {
    @Test func bothSidesKnowEachOtherAndTheSession() throws {
        var session = NoiseSession()
        #expect(session.initiator.remoteStatic == nil)
        #expect(session.initiator.handshakeHash == nil)
        #expect(try session.run() == NoiseSession.payloads)
        #expect(session.initiator.remoteStatic == session.responderStatic.publicKey)
        #expect(session.responder.remoteStatic == session.initiatorStatic.publicKey)
        #expect(session.initiator.handshakeHash?.count == 32)
        #expect(session.initiator.handshakeHash == session.responder.handshakeHash)
    }

    @Test func everySessionHasItsOwnHashAndKeys() throws {
        var first = try NoiseSession.establish().initiator
        var second = try NoiseSession.establish().initiator
        #expect(first.handshakeHash != second.handshakeHash)
        #expect(try first.send.seal([1, 2, 3]) != second.send.seal([1, 2, 3]))
    }

    /// A thief of both machines' disks who has recorded a session: the ephemeral keys are gone, and with them what he needs.
    /// He gets no further than the first message, in which nothing is secret.
    @Test func whoHasBothStaticKeysOpensNoRecording() throws {
        var session = NoiseSession()
        var recording: [[UInt8]] = []
        _ = try session.run {
            recording.append($1)
            return $1
        }
        var sender = try session.initiator.finish()
        recording.append(try sender.send.seal([1, 2, 3]))

        var asResponder = NoiseHandshake(
            role: .responder, staticKey: session.responderStatic, prologue: NoiseSession.prologue)
        #expect(try asResponder.readMessage(recording[0]) == NoiseSession.payloads[0])
        _ = try asResponder.writeMessage(payload: NoiseSession.payloads[1])
        #expect(throws: SecureChannelError.self) { try asResponder.readMessage(recording[2]) }

        var asInitiator = NoiseHandshake(
            role: .initiator, staticKey: session.initiatorStatic, prologue: NoiseSession.prologue)
        _ = try asInitiator.writeMessage(payload: NoiseSession.payloads[0])
        #expect(throws: SecureChannelError.self) { try asInitiator.readMessage(recording[1]) }

        // A session of his own with the same static keys has other keys.
        let again = NoiseSession(session.initiatorStatic, session.responderStatic)
        var (initiator, responder) = (again.initiator, again.responder)
        _ = try responder.readMessage(initiator.writeMessage(payload: []))
        _ = try initiator.readMessage(responder.writeMessage(payload: []))
        _ = try responder.readMessage(initiator.writeMessage(payload: []))
        var own = try responder.finish()
        #expect(throws: SecureChannelError.self) { try own.receive.open(recording[3]) }
    }

    @Test func theDirectionsHaveDifferentKeys() throws {
        var (initiator, responder) = try NoiseSession.establish()
        #expect(try initiator.send.seal([0]) != responder.send.seal([0]))
    }

    @Test func eachSideOpensWhatTheOtherSeals() throws {
        var (initiator, responder) = try NoiseSession.establish()
        #expect(try responder.receive.open(initiator.send.seal([1, 2, 3])) == [1, 2, 3])
        #expect(try initiator.receive.open(responder.send.seal([4, 5])) == [4, 5])
    }

    @Test func aMessageMayBeAsLongAsNoiseAllowsAndNoLonger() throws {
        var fits = NoiseSession()
        let message = try fits.initiator.writeMessage(payload: [UInt8](repeating: 7, count: 65_535 - 32))
        #expect(message.count == 65_535)
        #expect(try fits.responder.readMessage(message).count == 65_535 - 32)
        let second = try fits.responder.writeMessage(payload: [UInt8](repeating: 7, count: 65_535 - 96))
        #expect(try fits.initiator.readMessage(second).count == 65_535 - 96)

        var exceeds = NoiseSession()
        let tooLong = [UInt8](repeating: 7, count: 65_535 - 31)
        #expect(failure { try exceeds.initiator.writeMessage(payload: tooLong) } == .messageTooLong)
        #expect(failure { try exceeds.responder.readMessage(message + [0]) } == .messageTooLong)
    }

    @Test func stepsOutOfTurnAreRefusedAndEndTheHandshake() throws {
        var session = NoiseSession()
        #expect(failure { try session.responder.writeMessage() } == .wrongState)
        #expect(failure { try session.initiator.finish() } == .wrongState)
        #expect(failure { try session.initiator.writeMessage() } == .wrongState)

        var early = NoiseSession()
        let first = try early.initiator.writeMessage()
        #expect(failure { try early.initiator.writeMessage() } == .wrongState)
        _ = try early.responder.readMessage(first)
        #expect(failure { try early.responder.readMessage(first) } == .wrongState)
    }

    @Test func theCiphersAreGivenOnce() throws {
        var session = NoiseSession()
        _ = try session.run()
        _ = try session.initiator.finish()
        #expect(!session.initiator.isComplete)
        #expect(failure { try session.initiator.finish() } == .wrongState)
    }
}
