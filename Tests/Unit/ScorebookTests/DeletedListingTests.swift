import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// What people read of deleted records.
struct DeletedListingTests {
    /// Two scores, each of which says that the other is its player. No table takes them, but a peer may send them.
    @Test func aCircleOfReferencesHasTitles() async throws {
        let scorebook = try Support.scorebook()
        let names = try ["SBScore|~|1", "SBScore|~|2"].map { try RecordName($0) }
        func stamp(_ milliseconds: Int64) -> Stamp {
            Stamp(time: HybridTime(milliseconds: milliseconds), replica: ReplicaID(rawValue: 9))
        }
        let states = zip(names, names.reversed()).map { name, other in
            RecordState(
                name: name,
                fields: [
                    RecordField(name: "player", value: .reference(other), stamp: stamp(1000)),
                    RecordField(name: "text", value: .text("ten"), stamp: stamp(1000)),
                ], deletion: stamp(2000))
        }
        try await scorebook.records.write { [records = scorebook.records] db in
            _ = try records.merge(db, states)
        }
        let listed = try await scorebook.deletedRecords()
        #expect(listed.map(\.recordName) == names)
        #expect(listed.map(\.title) == ["ten", "ten"])
    }
}
