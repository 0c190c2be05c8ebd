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

    /// An app makes the digest of an export of records, and holds it against that of the store.
    @Test func aRecordThatIsNotLiveAddsNothing() throws {
        let stamp = { Stamp(time: HybridTime(milliseconds: $0), replica: ReplicaID(rawValue: 1)) }
        var record = RecordState(
            name: try RecordName("A|~|1"),
            fields: [RecordField(name: "x", value: .integer(1), stamp: stamp(1))])
        var digest = ZoneDigest()
        digest.insert(record)
        var expected = ZoneDigest()
        expected.insert(RecordID(record))
        #expect(digest == expected && digest.count == 1)
        record.deletion = stamp(2)
        digest.insert(record)
        #expect(digest == expected)
    }

    @Test func oneOtherValueIsAnotherDigest() {
        var one = ZoneDigest()
        var other = ZoneDigest()
        one.insert(id(1))
        other.insert(id(2))
        #expect(one.hex != other.hex)
    }
}
