import TestSupport
import Testing

@testable import PeerSyncChannel

/// The draft's own values, and the group's borders.
struct CPaceTests {
    struct Vectors: Decodable {
        struct Party: Decodable {
            let scalar: Hex
            let share: Hex
            let associatedData: Hex

            var message: CPace.Message {
                CPace.Message(share: share.bytes, associatedData: associatedData.bytes)
            }
        }
        struct Vector: Decodable {
            let source: String
            let passwordRelatedString: Hex
            let channelIdentifier: Hex
            let sessionIdentifier: Hex
            let generatorHash: Hex
            let generator: Hex
            let initiator: Party
            let responder: Party
            let sharedPoint: Hex
            let intermediateSessionKey: Hex
            let sidOutput: Hex
        }
        struct Multiplication: Decodable {
            let scalar: Hex
            let point: Hex
            let result: Hex
        }
        let vectors: [Vector]
        let scalarMultiplication: Multiplication
        let invalidShares: [Hex]
    }

    let vectors: Vectors

    init() throws {
        vectors = try Repository.vector("cpace-ristretto255.json")
    }

    @Test func everyValueIsThatOfTheDraft() throws {
        #expect(vectors.vectors.count == 2)
        for vector in vectors.vectors {
            let hash = CPace.generatorHash(
                passwordRelatedString: vector.passwordRelatedString.secret,
                channelIdentifier: vector.channelIdentifier.bytes,
                sessionIdentifier: vector.sessionIdentifier.bytes)
            #expect(hash.revealed == vector.generatorHash.bytes, "\(vector.source)")
            let generator = CPace.calculateGenerator(
                passwordRelatedString: vector.passwordRelatedString.secret,
                channelIdentifier: vector.channelIdentifier.bytes,
                sessionIdentifier: vector.sessionIdentifier.bytes)
            #expect(generator.revealed == vector.generator.bytes)
            for party in [vector.initiator, vector.responder] {
                let share = try CPace.share(scalar: party.scalar.secret, generator: generator)
                #expect(share == party.share.bytes)
            }
            for (own, other) in [(vector.initiator, vector.responder), (vector.responder, vector.initiator)] {
                let point = try CPace.sharedPoint(
                    scalar: own.scalar.secret, remoteShare: other.share.bytes)
                #expect(point.revealed == vector.sharedPoint.bytes)
                let key = CPace.intermediateSessionKey(
                    sessionIdentifier: vector.sessionIdentifier.bytes, sharedPoint: point,
                    initiator: vector.initiator.message, responder: vector.responder.message)
                #expect(key.revealed == vector.intermediateSessionKey.bytes)
            }
        }
    }

    @Test func theTranscriptIsThatOfTheDraft() {
        for vector in vectors.vectors {
            var hash = SHA512()
            hash.update(Array("CPaceSidOutput".utf8))
            hash.update(
                CPace.transcript(initiator: vector.initiator.message, responder: vector.responder.message))
            let sidOutput = hash.finalize()
            #expect(sidOutput.revealed == vector.sidOutput.bytes)
        }
    }

    @Test func lengthsTakeSevenBitsOfEachByte() {
        let table: [(Int, [UInt8])] = [
            (0, [0x00]), (1, [0x01]), (127, [0x7f]), (128, [0x80, 0x01]), (129, [0x81, 0x01]),
            (16_383, [0xff, 0x7f]), (16_384, [0x80, 0x80, 0x01]),
        ]
        for (length, encoded) in table {
            #expect(CPace.encodedLength(length) == encoded)
        }
        #expect(CPace.lvCat() == [])
        #expect(CPace.lvCat([], [0x31, 0x32], [0x33]) == [0x00, 0x02, 0x31, 0x32, 0x01, 0x33])
    }

    @Test func zerosFillTheFirstBlockAsFarAsThePasswordLeavesRoom() {
        // DSI and its length take 18 bytes, the password's length 1 or 2, the zeros' length 1.
        for (count, zeroCount) in [(0, 108), (6, 102), (107, 1), (108, 0), (109, 0), (200, 0)] {
            let password = [UInt8](repeating: 0x61, count: count)
            var expected = SHA512()
            expected.update(
                CPace.lvCat(
                    CPace.domainSeparationIdentifier, password, [UInt8](repeating: 0, count: zeroCount), [1],
                    [2]))
            let hash = CPace.generatorHash(
                passwordRelatedString: SecretBytes(copying: password), channelIdentifier: [1],
                sessionIdentifier: [2])
            let expectedHash = expected.finalize()
            #expect(hash == expectedHash, "\(count) bytes")
        }
    }

    @Test func aValidPointIsMultiplied() throws {
        let table = vectors.scalarMultiplication
        let result = try CPace.sharedPoint(scalar: table.scalar.secret, remoteShare: table.point.bytes)
        #expect(result.revealed == table.result.bytes)
    }

    @Test func invalidPointsAndTheNeutralElementAreRefused() {
        #expect(vectors.invalidShares.contains { $0.bytes == [UInt8](repeating: 0, count: 32) })
        for share in vectors.invalidShares {
            let scalar = CPace.sampleScalar()
            let code = failure { try CPace.sharedPoint(scalar: scalar, remoteShare: share.bytes) }
            #expect(code == .lowOrderPoint, "\(share.bytes)")
        }
    }

    @Test func sharesOfAnotherLengthAreRefused() throws {
        let share = try #require(vectors.vectors.first).initiator.share.bytes
        for wrong in [[], Array(share.dropLast()), share + [0]] {
            let scalar = CPace.sampleScalar()
            let code = failure { try CPace.sharedPoint(scalar: scalar, remoteShare: wrong) }
            #expect(code == .malformedMessage)
        }
    }

    @Test func scalarsAreRandom() {
        #expect(CPace.sampleScalar() != CPace.sampleScalar())
    }
}
