import TestSupport
import Testing

@testable import PeerSyncChannel

/// What a handshake does with everything that an honest machine would not send.
struct NoiseAttackTests {
    @Test(arguments: 0..<3) func anyChangedByteFails(of message: Int) throws {
        for index in 0..<NoiseSession.messageLengths[message] {
            // The highest bit matters by itself: X25519 ignores it in the last byte of a key.
            for mask: UInt8 in [0x01, 0x80] {
                var session = NoiseSession()
                let code = failure {
                    try session.run { $0 == message ? $1.flipped(at: index, by: mask) : $1 }
                }
                #expect(code == .authenticationFailed, "message \(message), byte \(index), mask \(mask)")
                #expect(!(session.initiator.isComplete && session.responder.isComplete))
            }
        }
    }

    @Test(arguments: 0..<3) func anyTruncationFails(of message: Int) throws {
        let length = NoiseSession.messageLengths[message]
        // Shorter than its keys and tags, a message has no honest meaning and is not even decrypted.
        let fixedLength = [32, 96, 64][message]
        for count in 0..<length {
            var session = NoiseSession()
            let code = failure { try session.run { $0 == message ? Array($1.prefix(count)) : $1 } }
            let expected: SecureChannelError.Code =
                count < fixedLength ? .malformedMessage : .authenticationFailed
            #expect(code == expected, "message \(message) cut to \(count) bytes")
        }
    }

    @Test(arguments: 0..<3) func anAppendedByteFails(to message: Int) {
        var session = NoiseSession()
        #expect(failure { try session.run { $0 == message ? $1 + [0] : $1 } } == .authenticationFailed)
    }

    @Test func theMessagesHaveTheLengthsThatTheTablesAssume() throws {
        var session = NoiseSession()
        var lengths: [Int] = []
        _ = try session.run { _, message in
            lengths.append(message.count)
            return message
        }
        #expect(lengths == NoiseSession.messageLengths)
    }

    @Test func anotherPrologueFails() {
        var session = NoiseSession(responderPrologue: Array("scorebook-peer test, older".utf8))
        #expect(failure { try session.run() } == .authenticationFailed)
        #expect(failure { try session.initiator.writeMessage() } == .wrongState)
    }

    @Test func afterAFailureNothingGoesOn() throws {
        var session = NoiseSession()
        var genuine: [UInt8] = []
        #expect(
            failure {
                try session.run { number, message in
                    guard number == 1 else { return message }
                    genuine = message
                    return message.flipped(at: message.count - 1)
                }
            } == .authenticationFailed)
        #expect(failure { try session.initiator.readMessage(genuine) } == .wrongState)
        #expect(failure { try session.initiator.finish() } == .wrongState)
        #expect(session.initiator.remoteStatic == nil)
    }

    @Test func echoedMessagesFail() throws {
        var session = NoiseSession()
        let first = try session.initiator.writeMessage(payload: [UInt8](repeating: 0, count: 64))
        #expect(failure { try session.initiator.readMessage(first) } == .authenticationFailed)
    }

    @Test func anAnswerToAnotherHandshakeFails() throws {
        var here = NoiseSession()
        var elsewhere = NoiseSession()
        _ = try here.responder.readMessage(try here.initiator.writeMessage())
        _ = try elsewhere.responder.readMessage(try elsewhere.initiator.writeMessage())
        let answer = try elsewhere.responder.writeMessage()
        #expect(failure { try here.initiator.readMessage(answer) } == .authenticationFailed)
    }
}

/// Public keys that lead to a secret which everybody knows.
struct LowOrderKeyTests {
    /// The encodings of points of low order on Curve25519 and its twist, as in RFC 7748's field: 0, 1, two
    /// of order 8, p - 1, p, p + 1; and 0 with the bit that X25519 ignores.
    static let keys: [Hex] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
    ]

    @Test(arguments: keys) func areRefusedInTheExchange(key: Hex) throws {
        let publicKey = try PublicKey(key.bytes)
        #expect(failure { try KeyPair.generate().sharedSecret(with: publicKey) } == .lowOrderPoint)
    }

    @Test(arguments: keys) func areRefusedAsTheInitiatorsEphemeralKey(key: Hex) throws {
        var session = NoiseSession()
        _ = try session.responder.readMessage(key.bytes)
        #expect(failure { try session.responder.writeMessage() } == .lowOrderPoint)
    }

    @Test(arguments: keys) func areRefusedAsTheRespondersEphemeralKey(key: Hex) throws {
        var session = NoiseSession()
        _ = try session.initiator.writeMessage()
        let answer = key.bytes + [UInt8](repeating: 0, count: 64)
        #expect(failure { try session.initiator.readMessage(answer) } == .lowOrderPoint)
    }

    /// An initiator who has no secret key at all, and hopes to be let in with a static key of low order.
    @Test(arguments: keys) func areRefusedAsAStaticKey(key: Hex) throws {
        var session = NoiseSession()
        let ephemeral = KeyPair.generate()
        var symmetric = SymmetricState(protocolName: NoiseHandshake.protocolName)
        symmetric.mixHash(NoiseSession.prologue)
        symmetric.mixHash(ephemeral.publicKey.bytes)
        symmetric.mixHash([])
        _ = try session.responder.readMessage(ephemeral.publicKey.bytes)
        let second = try session.responder.writeMessage()
        let responderEphemeral = try PublicKey(second[..<32])
        symmetric.mixHash(responderEphemeral.bytes)
        symmetric.mixKey(try ephemeral.sharedSecret(with: responderEphemeral))
        let responderStatic = try PublicKey(try symmetric.decryptAndHash(Array(second[32..<80])))
        #expect(responderStatic == session.responderStatic.publicKey)
        symmetric.mixKey(try ephemeral.sharedSecret(with: responderStatic))
        _ = try symmetric.decryptAndHash(Array(second[80...]))
        let encryptedStatic = try symmetric.encryptAndHash(key.bytes)
        symmetric.mixKey(SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
        let third = try encryptedStatic + symmetric.encryptAndHash([])
        #expect(failure { try session.responder.readMessage(third) } == .lowOrderPoint)
    }
}
