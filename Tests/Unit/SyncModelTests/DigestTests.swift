import PeerSyncModel
import Testing

/// The order of records does not change a digest; another value does.
struct DigestTests {
    private func id(_ number: Int) -> RecordID {
        RecordID(
            RecordState(
                name: try! RecordName("A|~|\(number)"),
                fields: [
                    RecordField(
                        name: "x", value: .integer(Int64(number)),
                        stamp: Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 1)))
                ]))
    }

    @Test func orderDoesNotMatterAndRemovalUndoesInsertion() throws {
        var forward = ZoneDigest()
        var backward = ZoneDigest()
        for number in 0..<100 { forward.insert(id(number)) }
        for number in (0..<100).reversed() { backward.insert(id(number)) }
        #expect(forward == backward)
        #expect(forward.hex == backward.hex)
        for number in 0..<100 { forward.remove(id(number)) }
        #expect(forward == ZoneDigest())
        let restored = try #require(ZoneDigest(count: backward.count, sumBytes: backward.sumBytes))
        #expect(restored == backward)
    }

    @Test func oneOtherValueIsAnotherDigest() {
        var one = ZoneDigest()
        var other = ZoneDigest()
        one.insert(id(1))
        other.insert(id(2))
        #expect(one.hex != other.hex)
    }
}
