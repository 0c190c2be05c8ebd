import TestSupport
import Testing

@testable import PeerSyncModel

/// Items in memory: their order, their sums, their search.
struct NegentropyVectorTests {
    static func id(_ hexadecimal: String) -> NegentropyID {
        NegentropyID(zeroPadding: Hex(hexadecimal).bytes[...])
    }

    @Test func idsCompareByTheirBytes() {
        let ascending = [
            "", "00000000000000000000000000000000000000000000000000000000000000ff", "0000000000000001",
            "00ff", "01",
            "01000000000000000000000000000000ff", "0100000000000000ff", "7f", "80", "8000000000000001", "ff",
        ].map(Self.id)
        var generator = SeededGenerator(seed: 5)
        #expect(ascending.shuffled(using: &generator).sorted() == ascending)
        #expect(ascending.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) } == ascending.map(\.bytes))
        #expect(Self.id("0102").description == "0102" + String(repeating: "0", count: 60))
    }

    @Test func onlyThirtyTwoBytesAreAnID() {
        #expect(NegentropyID(Array(repeating: 1, count: 31)) == nil)
        #expect(NegentropyID(Array(repeating: 1, count: 33)) == nil)
        #expect(NegentropyID(Array(0..<32))?.bytes == Array(0..<32))
    }

    @Test func itemsAreSortedByTimestampThenID() throws {
        let sets = NegentropySets(seed: 1, shared: 500, mine: 0, theirs: 0, timestamps: 20)
        var generator = SeededGenerator(seed: 6)
        let vector = try NegentropyVector(sets.mine.shuffled(using: &generator))
        #expect(vector.count == 500)
        let sorted = sets.mine.sorted {
            $0.timestamp == $1.timestamp
                ? $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) : $0.timestamp < $1.timestamp
        }
        #expect(Array(vector.items(in: 0..<500)) == sorted)
        #expect((0..<500).map(vector.item(at:)) == sorted)
    }

    @Test func itemsThatCannotBeReconciledAreNotSealed() {
        let item = NegentropyItem(timestamp: 1, id: Self.id("aa"))
        let other = NegentropyItem(timestamp: 2, id: Self.id("aa"))
        #expect(throws: NegentropyError.duplicateItem) { try NegentropyVector([item, other, item]) }
        #expect(throws: NegentropyError.duplicateItem) { try NegentropyVector([item, item]) }
        #expect(throws: NegentropyError.reservedTimestamp) {
            try NegentropyVector([NegentropyItem(timestamp: .max, id: item.id), item])
        }
        #expect(throws: Never.self) {
            try NegentropyVector([NegentropyItem(timestamp: .max - 1, id: item.id), other, item])
        }
    }

    /// Sizes around those of the blocks.
    @Test(arguments: [0, 1, 2, 63, 64, 65, 128, 500])
    func fingerprintsAreThoseOfZoneDigest(count: Int) throws {
        let records = try (0..<count).map { index in
            let name = try RecordName(recordType: "T", suffix: "\(index)")
            return RecordID(name: name, stamps: [], valueHash: Array(repeating: 0, count: 16))
        }
        // The timestamps keep the items in the order of the records.
        let vector = try NegentropyVector(
            records.enumerated().map {
                NegentropyItem(timestamp: UInt64($0.offset), id: NegentropyID($0.element))
            })
        var generator = SeededGenerator(seed: UInt64(count))
        var ranges = [0..<count]
        for _ in 0..<50 {
            let lower = Int.random(in: 0...count, using: &generator)
            ranges.append(lower..<Int.random(in: lower...count, using: &generator))
        }
        for range in ranges {
            var digest = ZoneDigest()
            for record in records[range] { digest.insert(record) }
            #expect(vector.fingerprint(of: range) == digest.fingerprint)
        }
    }

    /// 200 times 2^256 - 1 is 2^256 - 200, whichever words the sum carries over.
    @Test func sumsWrapAround() throws {
        let greatest = NegentropyID(Array(repeating: 0xFF, count: 32))!
        let vector = try NegentropyVector((0..<300).map { NegentropyItem(timestamp: $0, id: greatest) })
        for lower in [0, 1, 64, 90] {
            let sum: [UInt8] = [56] + Array(repeating: 0xFF, count: 31)
            let digest = ZoneDigest(count: 200, sumBytes: sum)
            #expect(vector.fingerprint(of: lower..<lower + 200) == digest?.fingerprint)
        }
    }

    @Test func theLowerBoundIsTheFirstItemThatIsNotLess() throws {
        let vector = try NegentropyVector(
            NegentropySets(seed: 3, shared: 200, mine: 0, theirs: 0, timestamps: 30).mine)
        var generator = SeededGenerator(seed: 4)
        var positions = (0..<200).map(vector.item(at:))
        positions += (0..<200).map { _ in generator.item(timestamp: 1_700_000_000 + generator.next() % 32) }
        positions += [NegentropyBound.infinity.position, NegentropyBound(timestamp: 0).position]
        for position in positions {
            let lower = Int.random(in: 0...200, using: &generator)
            let range = lower..<Int.random(in: lower...200, using: &generator)
            let expected = range.first { vector.item(at: $0) >= position } ?? range.upperBound
            #expect(try vector.lowerBound(of: position, in: range) == expected)
        }
    }
}
