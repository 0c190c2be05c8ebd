import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import TestSupport
import Testing

/// The scorebook as a JSON file, and back.
struct ExportTests {
    /// Whether an export, imported into an empty scorebook, gives the same records.
    private func comesBack(_ scorebook: ScorebookStore) async throws -> Bool {
        let file = try await scorebook.exportData()
        let copy = try Support.scorebook(9)
        let report = try await copy.importData(file)
        let states = try await scorebook.shownStates()
        #expect(report.format == .scorebook)
        #expect(report.total == ImportReport.Counts(new: states.count))
        #expect(try await copy.states() == states)
        return try await copy.exportData() == file
    }

    @Test func anImportedScorebookComesBack() async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.earlier())
        _ = try await scorebook.importData(Support.later())
        #expect(try await comesBack(scorebook))
    }

    @Test func anEmptyScorebookComesBack() async throws {
        #expect(try await comesBack(Support.scorebook()))
    }

    @Test func valuesOfAllKindsComeBack() async throws {
        let scorebook = try Support.scorebook(now: Int64(Date().timeIntervalSince1970 * 1000))
        // Whatever SQLite lets another program write.
        try await scorebook.execute(
            #"""
            INSERT INTO SBGame (recordName, name, year, bggID, highestWins, noPoints, thumbnail) VALUES
                ('SBGame|~|a', 'quote " back \ slash / line
            break tab	 nul é é 林 👩‍👩‍👧', 1995, 'unknown', 1, 2, x'00ff7f'),
                ('SBGame|~|b', '', 1e300, 9223372036854775807, 0.5, '1,5', 'text'),
                ('SBGame|~|c', x'00', -9223372036854775808, 1.5, NULL, 'true', 1);
            INSERT INTO SBMatch (recordName, game, date, rating) VALUES
                ('SBMatch|~|a', 'SBGame|~|a', '2024-02-29T12:00:00.250Z', 7.5),
                ('SBMatch|~|b', 'SBGame|~|a', 'some day', 8.0),
                ('SBMatch|~|c', 'SBGame|~|a', '2024-02-29 12:00', 9e999);
            INSERT INTO SBMatchLocation (recordName, match, latitude, longitude) VALUES
                ('SBMatchLocation|~|a', 'SBMatch|~|a', 52, -0.125), ('SBMatchLocation|~|b', 'SBMatch|~|a', 'x', -0.0);
            """#)
        // Edits, so that fields of one record have different stamps, and a life after a deletion.
        try await scorebook.execute("UPDATE SBGame SET year = 1996 WHERE recordName = 'SBGame|~|a'")
        try await scorebook.execute("DELETE FROM SBMatch WHERE recordName = 'SBMatch|~|b'")
        try await scorebook.execute(
            "INSERT INTO SBMatch (recordName, game) VALUES ('SBMatch|~|b', 'SBGame|~|a')")
        let file = try await scorebook.exportData()
        let copy = try Support.scorebook(9, now: Int64(Date().timeIntervalSince1970 * 1000))
        _ = try await copy.importData(file)
        #expect(try await copy.digest() == scorebook.digest())
        #expect(try await copy.states() == scorebook.states())
    }

    @Test func whatThisVersionDoesNotKnowComesBack() async throws {
        let scorebook = try Support.scorebook()
        let stamp = Stamp(time: HybridTime(milliseconds: 1_600_000_000_000), replica: ReplicaID(rawValue: 7))
        func field(_ name: String, _ value: FieldValue) -> RecordField {
            RecordField(name: name, value: value, stamp: stamp)
        }
        let states = [
            RecordState(
                name: try RecordName("SBGame|~|new"),
                fields: [
                    field("name", .text("Go")), field("weight", .real(2)), field("price", .integer(1)),
                    field("designer", .reference(try RecordName("SBDesigner|~|1"))),
                    field("bought", .date(86_400_000)),
                    field("looksLikeADate", .text("2024-02-29T12:00:00Z")), field("nothing", .null),
                ]),
            RecordState(name: try RecordName("SBDesigner|~|1"), fields: [field("name", .text("Somebody"))]),
            // Its match is not here.
            RecordState(
                name: try RecordName("SBMatchImage|~|held"),
                fields: [
                    field("match", .reference(try RecordName("SBMatch|~|1"))), field("image", .blob([1, 2])),
                ]),
        ]
        try await scorebook.records.write { [records = scorebook.records] db in
            _ = try records.merge(db, states)
        }
        #expect(try await scorebook.status().held == 2)
        #expect(try await comesBack(scorebook))
    }

    @Test func theFileIsDocumentedJSONThatPeopleCanRead() async throws {
        let scorebook = try Support.scorebook()
        let stamp = Stamp(time: HybridTime(milliseconds: 1_600_000_000_000), replica: ReplicaID(rawValue: 7))
        let later = Stamp(
            time: HybridTime(rawValue: 1_600_000_000_001 << 16 | 3), replica: ReplicaID(rawValue: 8))
        let game = RecordState(
            name: try RecordName("SBGame|~|1"),
            fields: [
                RecordField(name: "name", value: .text("Go"), stamp: stamp),
                RecordField(name: "noPoints", value: .integer(0), stamp: stamp),
                RecordField(name: "thumbnail", value: .blob([1, 2, 3]), stamp: stamp),
                RecordField(name: "year", value: .null, stamp: later),
            ])
        let match = RecordState(
            name: try RecordName("SBMatch|~|1"),
            fields: [
                RecordField(name: "date", value: .date(1_600_000_000_000), stamp: stamp),
                RecordField(name: "game", value: .reference(try RecordName("SBGame|~|1")), stamp: stamp),
            ])
        try await scorebook.records.write { [records = scorebook.records] db in
            _ = try records.merge(db, [game, match])
        }
        let digest = try await scorebook.digest()
        #expect(
            String(decoding: try await scorebook.exportData(), as: UTF8.self) == """
                {
                  "format": "scorebook export",
                  "version": 1,
                  "zone": "ScorebookData",
                  "exportedAt": "2021-08-01T00:00:00Z",
                  "digest": "\(digest)",
                  "count": 2,
                  "records": {
                    "SBGame": [
                      {"recordName": "SBGame|~|1", "fields": {"name": "Go", "noPoints": false, \
                "thumbnail": {"base64": "AQID"}, "year": null}, \
                "modificationDate": "2020-09-13T12:26:40.001Z", \
                "stamp": "1600000000000.0@0000000000000007", \
                "stamps": {"year": "1600000000001.3@0000000000000008"}}
                    ],
                    "SBMatch": [
                      {"recordName": "SBMatch|~|1", "fields": {"date": "2020-09-13T12:26:40Z", \
                "game": "SBGame|~|1"}, \
                "modificationDate": "2020-09-13T12:26:40.000Z", \
                "stamp": "1600000000000.0@0000000000000007"}
                    ]
                  }
                }

                """)
    }

    @Test func importingAnExportIntoAScorebookMergesIt() async throws {
        let one = try Support.scorebook(1)
        let two = try Support.scorebook(2)
        _ = try await one.importData(Support.earlier())
        _ = try await two.importData(one.exportData())
        _ = try await one.importData(Support.later())
        let old = try await two.exportData()
        let report = try await one.importData(old)
        #expect(report.total.new == 0 && report.total.changed == 0 && report.total.deleted == 0)
        _ = try await two.importData(one.exportData())
        // The deletion of a play is not in an export: it holds live records only.
        #expect(try await two.rows("SELECT COUNT(*) FROM SBMatch") == ["13"])
        #expect(try await one.rows("SELECT COUNT(*) FROM SBMatch") == ["12"])
    }

    @Test func aFileIsReplacedOnlyWhenTheNewOneIsComplete() async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let file = directory.appendingPathComponent("scorebook.json")
        try Data("old".utf8).write(to: file)
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.later())
        let refused = await #expect(throws: ScorebookError.self) {
            try await scorebook.exportFile(at: file.path)
        }
        #expect(refused?.code == .notWritable && refused?.message.contains("--force") == true)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        let count = try await scorebook.exportFile(at: file.path, replaces: true).records
        #expect(try await scorebook.status().digest.count == UInt64(count))
        #expect(try Data(contentsOf: file) == (try await scorebook.exportData()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["scorebook.json"])
        let nowhere = directory.appendingPathComponent("none/scorebook.json").path
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.exportFile(at: nowhere) }
        #expect(error?.code == .notWritable)
    }

    /// A record that a backup brings back is as it was when it was deleted.
    @Test func aBackupDoesNotTakeBackWhatWasWrittenAfterIt() async throws {
        let scorebook = try Support.scorebook(now: RecordStore.wallClock())
        try await scorebook.addGame(NewGame(name: "Catan", year: 1994))
        let backup = try await scorebook.exportData()
        try await scorebook.execute("UPDATE SBGame SET year = 1995")
        try await scorebook.execute("DELETE FROM SBGame")
        #expect(try await scorebook.importData(backup, restores: true).restored == 1)
        #expect(try await scorebook.rows("SELECT name, year FROM SBGame") == ["Catan|1995"])
    }
}
