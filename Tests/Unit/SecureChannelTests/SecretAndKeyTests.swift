import TestSupport
import Testing

@testable import PeerSyncChannel

struct SecretBytesTests {
    @Test func secretsAreEqualByContent() {
        let secret = SecretBytes(copying: [1, 2, 3])
        #expect(secret == SecretBytes(copying: [1, 2, 3]))
        #expect(secret != SecretBytes(copying: [1, 2, 4]))
        #expect(secret != SecretBytes(copying: [0, 2, 3]))
        #expect(secret != SecretBytes(copying: [1, 2]))
        #expect(secret != SecretBytes(copying: []))
        #expect(SecretBytes(copying: []) == SecretBytes(copying: []))
        #expect(secret.matches([1, 2, 3]))
        #expect(!secret.matches([1, 2, 3, 0]))
        #expect(!secret.matches([]))
    }

    @Test func noWayOfPrintingShowsTheContent() {
        let secret = SecretBytes(copying: Array("swordfish".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(text.contains("SecretBytes(9 bytes)"))
            #expect(!text.contains("sword"))
            #expect(!text.contains("0x"))
        }
    }

    @Test func aFailedInitializerPassesItsErrorOn() {
        let error = SecureChannelError(.malformedKey, "no")
        #expect(failure { try SecretBytes(count: 4) { _ in throw error } } == .malformedKey)
    }

    @Test func randomSecretsDiffer() {
        #expect(SecretBytes.random(count: 32) != SecretBytes.random(count: 32))
        #expect(Sodium.randomBytes(count: 32) != Sodium.randomBytes(count: 32))
        #expect(Sodium.randomBytes(count: 0) == [])
    }
}

struct KeyTests {
    @Test func aKeyIsReadBackFromItsHex() throws {
        let key = KeyPair.generate().publicKey
        #expect(key.hex.count == 64)
        #expect(try PublicKey(hex: key.hex) == key)
        #expect(try PublicKey(hex: key.hex.uppercased()) == key)
        #expect("\(key)" == key.hex)
    }

    @Test(arguments: [
        "", "00", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
        String(repeating: "g", count: 64), String(repeating: "+0", count: 32),
        String(repeating: "٠", count: 64), String(repeating: "٠", count: 32),
        " " + String(repeating: "0", count: 63),
    ])
    func otherTextIsNoKey(text: String) {
        #expect(failure { try PublicKey(hex: text) } == .malformedKey)
    }

    @Test func otherLengthsAreNoKey() {
        for count in [0, 31, 33] {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(failure { try PublicKey(bytes) } == .malformedKey)
            #expect(failure { try KeyPair(secretKey: SecretBytes(copying: bytes)) } == .malformedKey)
        }
    }

    @Test func keysAreOrderedByTheirBytes() throws {
        var bytes = [UInt8](repeating: 0, count: 32)
        let zero = try PublicKey(bytes)
        bytes[31] = 0xff
        let low = try PublicKey(bytes)
        bytes[0] = 1
        bytes[31] = 0
        let high = try PublicKey(bytes)
        #expect([high, zero, low].sorted() == [zero, low, high])
    }

    /// The values of RFC 7748 §6.1.
    @Test func theExchangeIsThatOfTheStandard() throws {
        let alice: Hex = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
        let bob: Hex = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"
        let alicePublic = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        let bobPublic = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
        let secret: Hex = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        let alicePair = try KeyPair(secretKey: alice.secret)
        let bobPair = try KeyPair(secretKey: bob.secret)
        #expect(alicePair.publicKey.hex == alicePublic)
        #expect(bobPair.publicKey.hex == bobPublic)
        #expect(try alicePair.sharedSecret(with: bobPair.publicKey) == secret.secret)
        #expect(try bobPair.sharedSecret(with: alicePair.publicKey) == secret.secret)
    }
}

struct PairingCodeTests {
    @Test func bothWaysOfWritingAreRead() throws {
        let code = try PairingCode("012-345")
        #expect(try PairingCode("012345") == code)
        #expect(code.formatted == "012-345")
        #expect(code.digits.revealed == Array("012345".utf8))
        #expect(try PairingCode("012-346") != code)
    }

    @Test(arguments: [
        "", "12345", "1234567", "123-45", "12-3456", "1234-56", "123--456", "-123456", "123456-", "123 456",
        " 123456", "123456\n", "12345a", "123_456", "+12345", "١٢٣٤٥٦", "１２３４５６", "123-45６",
    ])
    func anythingElseIsRefusedWithoutRepeatingIt(text: String) {
        // One and the same error for every text: what it says cannot depend on what was typed.
        let error = #expect(throws: SecureChannelError.self) { try PairingCode(text) }
        let reference = #expect(throws: SecureChannelError.self) { try PairingCode("?") }
        #expect(error?.code == .malformedPairingDigits)
        #expect(error == reference)
    }

    @Test func randomCodesCanBeTypedAndUseEveryDigitEverywhere() throws {
        var seen = [Set<Character>](repeating: [], count: 7)
        for _ in 0..<1_000 {
            let code = PairingCode.random()
            #expect(try PairingCode(code.formatted) == code)
            for (position, character) in code.formatted.enumerated() {
                seen[position].insert(character)
            }
        }
        for (position, characters) in seen.enumerated() {
            #expect(characters == (position == 3 ? ["-"] : Set("0123456789")))
        }
    }

    @Test func aCodeIsNotPrinted() throws {
        let code = try PairingCode("271-828")
        var dumped = ""
        dump(code, to: &dumped)
        for text in ["\(code)", String(reflecting: code), dumped] {
            #expect(!text.contains("271"))
            #expect(!text.contains("828"))
        }
    }
}

struct SecureChannelErrorTests {
    @Test func anErrorShowsItsSentenceAndItsStableCode() {
        let error = SecureChannelError(.reflectedShare, "It came back.")
        #expect("\(error)" == "It came back. [reflectedShare]")
        #expect(error.code == SecureChannelError.Code(rawValue: "reflectedShare"))
    }
}
