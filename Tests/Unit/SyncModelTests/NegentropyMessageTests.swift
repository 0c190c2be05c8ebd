import TestSupport
import Testing

@testable import PeerSyncModel

/// What a message is made of, byte for byte, and that nothing else is taken for one.
struct NegentropyMessageTests {
    @Test(
        arguments: [
            (0, "00"), (1, "01"), (127, "7f"), (128, "8100"), (129, "8101"),
            (16383, "ff7f"), (16384, "818000"), (2_097_151, "ffff7f"),
            (1_700_000_000, "86aacfe200"), (1 << 63, "81808080808080808000"),
            (.max - 1, "81ffffffffffffffff7e"), (.max, "81ffffffffffffffff7f"),
        ] as [(UInt64, String)])
    func numbersAndBytesBelongTogether(number: UInt64, encoded: String) throws {
        var output: [UInt8] = []
        Base128Integer.append(number, to: &output)
        #expect(output.hexadecimal == encoded)
        // As the timestamp of a bound, the number is one more than the timestamp, and zero is infinity.
        var reader = NegentropyReader([0x61] + output + [0, 0])
        _ = try reader.version()
        #expect(try reader.range()?.upperBound == NegentropyBound(timestamp: number &- 1))
        #expect(try reader.range() == nil)
    }

    @Test(
        arguments: [
            // The timestamps differ: no byte of the id is needed.
            (5, "ff", 6, "00", "0700"),
            (0, "", 0xFFFF_FFFF_FFFF_FFFE, "", "81ffffffffffffffff7f00"),
            // They are equal: as many bytes as the ids share, and one more.
            (5, "", 5, "01", "060101"),
            (5, "0102", 5, "0103", "06020103"),
            (5, "01020304050607", 5, "01020304050608", "060701020304050608"),
            (
                5, "0102030405060708090a0b0c0d0e0f1011", 5, "0102030405060708090a0b0c0d0e0f1012",
                "06110102030405060708090a0b0c0d0e0f1012"
            ),
            (
                5, "aa00000000000000000000000000000000000000000000000000000000000000", 5,
                "aa00000000000000000000000000000000000000000000000000000000000001",
                "0620aa00000000000000000000000000000000000000000000000000000000000001"
            ),
        ] as [(UInt64, String, UInt64, String, String)])
    func boundsAreAsShortAsTheyCanBe(
        lastTime: UInt64, lastID: String, firstTime: UInt64, firstID: String, encoded: String
    ) throws {
        let last = NegentropyItem(timestamp: lastTime, id: NegentropyID(zeroPadding: Hex(lastID).bytes[...]))
        let first = NegentropyItem(
            timestamp: firstTime, id: NegentropyID(zeroPadding: Hex(firstID).bytes[...]))
        let bound = NegentropyBound(between: last, and: first)
        #expect(last < bound.position && bound.position <= first)

        var writer = NegentropyWriter()
        writer.appendSkip(upTo: bound)
        #expect(writer.message.hexadecimal == "61" + encoded + "00")
        var reader = NegentropyReader(writer.message)
        _ = try reader.version()
        #expect(try reader.range()?.upperBound == bound)
    }

    @Test func timestampsAreDistancesAndInfinityIsZero() throws {
        let bounds = [
            NegentropyBound(timestamp: 0), NegentropyBound(timestamp: 1000),
            NegentropyBound(timestamp: 1000, prefix: [7]), NegentropyBound(timestamp: 1300), .infinity,
            .infinity,
        ]
        var writer = NegentropyWriter()
        for bound in bounds { writer.appendSkip(upTo: bound) }
        #expect(
            writer.message.hexadecimal
                == "61 010000 87690000 01010700 822d0000 000000 000000".filter { $0 != " " })
        var reader = NegentropyReader(writer.message)
        _ = try reader.version()
        for bound in bounds { #expect(try reader.range()?.upperBound == bound) }
        #expect(try reader.range() == nil)
    }

    @Test func aMessageThatIsCutShortEndsWithOneFingerprint() {
        var writer = NegentropyWriter()
        writer.appendSkip(upTo: NegentropyBound(timestamp: 9))
        let length = writer.message.count
        writer.append(idsOf: [], upTo: NegentropyBound(timestamp: 10))
        writer.end(keeping: length, fingerprint: Array(repeating: 0xEE, count: 16))
        #expect(writer.message.hexadecimal == "610a0000" + "000001" + String(repeating: "ee", count: 16))
    }

    @Test(
        arguments: [
            ("", .truncated), ("00", .notNegentropy(0)), ("5f", .notNegentropy(0x5F)),
            ("70", .notNegentropy(0x70)),
            // A bound ends too early: in the timestamp, the length, the prefix, before the mode.
            ("6181", .truncated), ("6105", .truncated), ("610502aa", .truncated), ("610500", .truncated),
            // Leading zeros, and 65 bits.
            ("6180000000", .malformedNumber), ("61800100", .malformedNumber),
            ("6182808080808080808000 0000", .malformedNumber),
            ("61ffffffffffffffffffff7f0000", .malformedNumber),
            // A prefix of more than 32 bytes, of 2^63 bytes.
            ("6105" + "21" + String(repeating: "00", count: 40), .prefixTooLong(33)),
            ("61058180808080808080800000", .prefixTooLong(1 << 63)),
            // The timestamps add up to 2^64 - 1, to more, or go on after infinity.
            ("6181ffffffffffffffff7f0000020000", .timestampTooGreat),
            ("6181ffffffffffffffff7f000081ffffffffffffffff7f0000", .timestampTooGreat),
            ("61000000010000", .timestampTooGreat),
            // The second bound is below the first.
            ("610501020001010100", .descendingBounds), ("6100010500000000", .descendingBounds),
            ("61000003", .unknownMode(3)), ("61000081ffffffffffffffff7f", .unknownMode(.max)),
            // A fingerprint of 15 bytes; lists that claim more ids than there are: 1, 2^58, 2^64 - 1.
            ("61000001" + String(repeating: "ee", count: 15), .truncated),
            ("6100000201" + String(repeating: "ee", count: 31), .truncated),
            ("61000002848080808080808000", .truncated), ("6100000281ffffffffffffffff7f", .truncated),
        ] as [(String, NegentropyError)])
    func malformedMessagesAreRefusedByBothSides(message: String, error: NegentropyError) throws {
        let storage = try NegentropyVector([])
        #expect(throws: error) { try NegentropyResponder(storage: storage).reconcile(Hex(message).bytes) }
        #expect(throws: error) {
            var initiator = NegentropyInitiator(storage: storage)
            return try initiator.reconcile(Hex(message).bytes)
        }
        #expect(!"\(error)".isEmpty)
    }

    @Test func theResponderNamesItsVersionAndTheInitiatorHasNoOther() throws {
        let storage = try NegentropyVector([])
        let responder = NegentropyResponder(storage: storage)
        for version: UInt8 in [0x60, 0x62, 0x6F] {
            #expect(try responder.reconcile([version, 0xAA, 0xBB]) == [0x61])
            var initiator = NegentropyInitiator(storage: storage)
            #expect(throws: NegentropyError.unsupportedVersion(version)) {
                try initiator.reconcile([version])
            }
        }
    }
}
