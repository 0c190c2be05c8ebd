import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// A record that other machines would refuse for the name of a field gets into no store.
struct FieldNameTests {
    private static let longest = String(repeating: "x", count: 63)
    private static let invalid = [
        "", "a b", "1st", "größe", "x;", longest + "x", "recordName", "modificationDate",
    ]

    @Test(arguments: ["x", "_x1", "Name", longest]) func whatIsAnIdentifierCanNameAField(name: String) {
        #expect(RecordField.canBeNamed(name))
    }

    @Test(arguments: invalid) func aMergeRefusesAnyOtherName(name: String) async throws {
        #expect(!RecordField.canBeNamed(name))
        let machine = try Machine("a", number: 1)
        let stamp = Stamp(time: HybridTime(milliseconds: 1_000), replica: ReplicaID(rawValue: 9))
        let fields = ["name", name].map { RecordField(name: $0, value: .text("Ada"), stamp: stamp) }
        let states = try [
            RecordState(name: RecordName("Author|~|1"), fields: [fields[0]]),
            RecordState(name: RecordName("Author|~|2"), fields: fields),
        ]
        let error = await #expect(throws: RecordStoreError.self) {
            try await machine.store.database.write { [machine] db in _ = try machine.store.merge(db, states) }
        }
        #expect(error?.code == .invalidRecord && error?.message.hasPrefix("Author|~|2 ") == true)
        #expect(try machine.rows("SELECT * FROM Author").isEmpty)
    }
}
