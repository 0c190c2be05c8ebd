import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// A record that other machines would refuse for a field gets into no store.
struct FieldRefusalTests {
    private static let longest = String(repeating: "x", count: 63)
    private static let invalidNames = [
        "", "a b", "1st", "größe", "x;", longest + "x", "recordName", "modificationDate",
    ]
    private static let years = ISO8601.writable
    private static let validValues: [FieldValue] = [
        .null, .real(.infinity), .real(-0.0), .date(years.lowerBound), .date(years.upperBound),
    ]
    private static let invalidValues: [FieldValue] = [
        .real(.nan), .real(-.signalingNaN), .date(years.lowerBound - 1), .date(years.upperBound + 1),
        .date(.min),
    ]

    @Test(arguments: ["x", "_x1", "Name", longest]) func whatIsAnIdentifierCanNameAField(name: String) {
        #expect(RecordField.canBeNamed(name))
    }

    @Test(arguments: invalidNames) func aMergeRefusesAnyOtherName(name: String) async throws {
        #expect(!RecordField.canBeNamed(name))
        try await expectRefusal(of: name, .text("Ada"))
    }

    @Test(arguments: validValues) func aMergeTakesWhatOthersTake(value: FieldValue) async throws {
        #expect(value.canBeSent)
        let machine = try Machine("a", number: 1)
        try await merge([record("Author|~|1", [("born", value)])], into: machine)
        #expect(try machine.rows("SELECT recordName FROM Author") == ["Author|~|1"])
    }

    @Test(arguments: invalidValues) func aMergeRefusesAnyOtherValue(value: FieldValue) async throws {
        #expect(!value.canBeSent)
        try await expectRefusal(of: "born", value)
    }

    private func expectRefusal(of field: String, _ value: FieldValue) async throws {
        let machine = try Machine("a", number: 1)
        let states = try [
            record("Author|~|1", [("name", .text("Ada"))]),
            record("Author|~|2", [("name", .text("Ada")), (field, value)]),
        ]
        let error = await #expect(throws: RecordStoreError.self) { try await merge(states, into: machine) }
        #expect(error?.code == .invalidRecord && error?.message.hasPrefix("Author|~|2 ") == true)
        #expect(try machine.rows("SELECT * FROM Author").isEmpty)
    }

    private func record(_ name: String, _ fields: [(name: String, value: FieldValue)]) throws -> RecordState {
        let stamp = Stamp(time: HybridTime(milliseconds: 1_000), replica: ReplicaID(rawValue: 9))
        return RecordState(
            name: try RecordName(name),
            fields: fields.map { RecordField(name: $0.name, value: $0.value, stamp: stamp) })
    }

    private func merge(_ states: [RecordState], into machine: Machine) async throws {
        try await machine.store.database.write { [machine] db in _ = try machine.store.merge(db, states) }
    }
}
