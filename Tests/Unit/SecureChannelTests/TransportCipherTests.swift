import TestSupport
import Testing

@testable import PeerSyncChannel

/// The channel after the handshake: order, limits, and the end at the first failure.
struct TransportCipherTests {
    let key = SecretBytes.random(count: 32)

    @Test func messagesOpenInTheirOrder() throws {
        var sender = SendingCipher(key: key)
        var receiver = ReceivingCipher(key: key)
        for number in 0..<10 {
            let plaintext = [UInt8](repeating: UInt8(number), count: number * 100)
            let message = try sender.seal(plaintext)
            #expect(message.count == plaintext.count + 16)
            #expect(try receiver.open(message) == plaintext)
        }
        #expect(sender.nonce == 10)
        #expect(receiver.nonce == 10)
    }

    @Test func theLongestMessageGoesThroughTheCallersBuffersAndInPlace() throws {
        var sender = SendingCipher(key: key)
        var receiver = ReceivingCipher(key: key)
        let plaintext = (0..<65_519).map { UInt8(truncatingIfNeeded: $0) }
        var buffer = plaintext + [UInt8](repeating: 0, count: 16)
        let sealedCount = try buffer.withUnsafeMutableBytes { bytes in
            try sender.seal(UnsafeRawBufferPointer(rebasing: bytes[..<65_519]), into: bytes)
        }
        #expect(sealedCount == 65_535)
        #expect(Array(buffer.prefix(65_519)) != plaintext)
        var output = [UInt8](repeating: 0, count: 65_519)
        let openedCount = try buffer.withUnsafeBytes { message in
            try output.withUnsafeMutableBytes { try receiver.open(message, into: $0) }
        }
        #expect(openedCount == 65_519)
        #expect(output == plaintext)
    }

    @Test func aLongerMessageIsRefusedAndUsesNothingUp() throws {
        var sender = SendingCipher(key: key)
        #expect(failure { try sender.seal([UInt8](repeating: 0, count: 65_520)) } == .messageTooLong)
        #expect(sender.nonce == 0)
        var receiver = ReceivingCipher(key: key)
        #expect(try receiver.open(try sender.seal([1])) == [1])
        #expect(failure { try receiver.open([UInt8](repeating: 0, count: 65_536)) } == .messageTooLong)
        #expect(receiver.nonce == nil)
    }

    @Test func anyChangedByteOrLengthFails() throws {
        var sender = SendingCipher(key: key)
        let message = try sender.seal(Array("move the robber".utf8))
        for index in message.indices {
            var receiver = ReceivingCipher(key: key)
            #expect(failure { try receiver.open(message.flipped(at: index)) } == .authenticationFailed)
        }
        for count in message.indices {
            var receiver = ReceivingCipher(key: key)
            let expected: SecureChannelError.Code = count < 16 ? .malformedMessage : .authenticationFailed
            #expect(failure { try receiver.open(Array(message.prefix(count))) } == expected)
        }
        var receiver = ReceivingCipher(key: key)
        #expect(failure { try receiver.open(message + [0]) } == .authenticationFailed)
    }

    @Test func afterTheFirstFailureEvenTheGenuineMessageIsRefused() throws {
        var sender = SendingCipher(key: key)
        var receiver = ReceivingCipher(key: key)
        let message = try sender.seal([1, 2, 3])
        #expect(failure { try receiver.open(message.flipped(at: 0)) } == .authenticationFailed)
        #expect(failure { try receiver.open(message) } == .wrongState)
        #expect(failure { try receiver.open(message) } == .wrongState)
        #expect(receiver.nonce == nil)
    }

    @Test func aFailureLeavesNoPlaintextBehind() throws {
        var sender = SendingCipher(key: key)
        var receiver = ReceivingCipher(key: key)
        let plaintext = [UInt8](repeating: 0x55, count: 64)
        let message = try sender.seal(plaintext).flipped(at: 79)
        var output = [UInt8](repeating: 0xaa, count: 64)
        let code = failure {
            try message.withUnsafeBytes { input in
                try output.withUnsafeMutableBytes { try receiver.open(input, into: $0) }
            }
        }
        #expect(code == .authenticationFailed)
        #expect(!output.contains(0x55))
    }

    @Test func repeatedAndReorderedMessagesFail() throws {
        var sender = SendingCipher(key: key)
        let first = try sender.seal([1])
        let second = try sender.seal([2])
        var replayed = ReceivingCipher(key: key)
        _ = try replayed.open(first)
        #expect(failure { try replayed.open(first) } == .authenticationFailed)
        var reordered = ReceivingCipher(key: key)
        #expect(failure { try reordered.open(second) } == .authenticationFailed)
    }

    @Test func aMessageSentBackToItsSenderFails() throws {
        var ciphers = try NoiseSession.establish().initiator
        let message = try ciphers.send.seal([1])
        #expect(failure { try ciphers.receive.open(message) } == .authenticationFailed)
    }
}

/// The count of messages under one key, and what happens at its ends.
struct NonceTests {
    let key = SecretBytes.random(count: 32)

    @Test func theNonceAdvancesOnSuccessOnly() throws {
        var sender = CipherState(key: key)
        var receiver = CipherState(key: key)
        var message = [UInt8](repeating: 0, count: 19)
        _ = try [1, 2, 3].withUnsafeBytes { plaintext in
            try message.withUnsafeMutableBytes {
                try sender.encrypt(UnsafeRawBufferPointer(rebasing: plaintext[..<3]), into: $0)
            }
        }
        #expect(sender.nonce == 1)
        func open(_ message: [UInt8]) throws -> Int {
            var output = [UInt8](repeating: 0, count: 64)
            return try message.withUnsafeBytes { input in
                try output.withUnsafeMutableBytes { try receiver.decrypt(input, into: $0) }
            }
        }
        #expect(failure { try open(message.flipped(at: 3)) } == .authenticationFailed)
        #expect(receiver.nonce == 0)
        #expect(failure { try open([1, 2, 3]) } == .malformedMessage)
        #expect(receiver.nonce == 0)
        #expect(try open(message) == 3)
        #expect(receiver.nonce == 1)
    }

    @Test func theLastNonceIsNeverUsed() throws {
        var sender = SendingCipher(key: key, startNonce: .max - 1)
        var receiver = ReceivingCipher(key: key, startNonce: .max - 1)
        let message = try sender.seal([9])
        #expect(try receiver.open(message) == [9])
        #expect(failure { try sender.seal([9]) } == .nonceExhausted)
        #expect(failure { try sender.seal([9]) } == .nonceExhausted)
        #expect(sender.nonce == .max)
        #expect(failure { try receiver.open(message) } == .nonceExhausted)
        #expect(failure { try receiver.open(message) } == .wrongState)
    }

    @Test func theWholeNumberIsInTheNonce() throws {
        // Numbers that differ in one of the eight bytes only must give different ciphertexts.
        let nonces = [0] + (0..<8).map { UInt64(1) << ($0 * 8) }
        let messages = try nonces.map { nonce in
            var sender = SendingCipher(key: key, startNonce: nonce)
            return try sender.seal([1, 2, 3, 4, 5, 6, 7, 8])
        }
        #expect(Set(messages).count == nonces.count)
    }
}

/// The change of keys that both sides make without a word.
struct RekeyTests {
    struct Vector: Decodable {
        struct Message: Decodable {
            let nonce: UInt64
            let plaintext: Hex
            let message: Hex
        }
        let key: Hex
        let rekeyInterval: UInt64
        let keyAfterRekey: Hex
        let keyAfterSecondRekey: Hex
        let messages: [Message]
    }

    @Test func theBoundaryIsThatOfTheVector() throws {
        let vector: Vector = try Repository.vector("transport-rekey.json")
        #expect(RekeyRule.interval == vector.rekeyInterval)
        let start = try #require(vector.messages.first).nonce
        var sender = SendingCipher(key: vector.key.secret, startNonce: start)
        var receiver = ReceivingCipher(key: vector.key.secret, startNonce: start)
        for message in vector.messages {
            #expect(sender.nonce == message.nonce)
            #expect(
                try sender.seal(message.plaintext.bytes) == message.message.bytes, "nonce \(message.nonce)")
            #expect(try receiver.open(message.message.bytes) == message.plaintext.bytes)
        }
    }

    @Test func everyFurtherIntervalChangesTheKeyAgain() throws {
        let vector: Vector = try Repository.vector("transport-rekey.json")
        let boundary = 2 * vector.rekeyInterval
        var sender = SendingCipher(key: vector.keyAfterRekey.secret, startNonce: boundary - 1)
        _ = try sender.seal([1])
        var reference = SendingCipher(key: vector.keyAfterSecondRekey.secret, startNonce: boundary)
        #expect(try sender.seal([2]) == reference.seal([2]))
    }

    @Test func bothSidesAgreeAllTheWayFromTheFirstMessage() throws {
        let key = SecretBytes.random(count: 32)
        var sender = SendingCipher(key: key)
        var receiver = ReceivingCipher(key: key)
        for number in 0..<(RekeyRule.interval + 2) {
            let plaintext = [UInt8(truncatingIfNeeded: number)]
            guard try receiver.open(try sender.seal(plaintext)) == plaintext else {
                Issue.record("message \(number) came out wrong")
                return
            }
        }
        #expect(sender.nonce == RekeyRule.interval + 2)
        // A side that did not change its key would not have got this far.
        var other = ReceivingCipher(key: key, startNonce: sender.nonce)
        #expect(failure { try other.open(try sender.seal([0])) } == .authenticationFailed)
    }

    @Test func aFailedMessageAtTheBoundaryDoesNotRekey() throws {
        let key = SecretBytes.random(count: 32)
        var sender = SendingCipher(key: key, startNonce: RekeyRule.interval - 1)
        #expect(failure { try sender.seal([UInt8](repeating: 0, count: 65_520)) } == .messageTooLong)
        var receiver = ReceivingCipher(key: key, startNonce: RekeyRule.interval - 1)
        #expect(try receiver.open(try sender.seal([1])) == [1])
        #expect(try receiver.open(try sender.seal([2])) == [2])
    }
}
