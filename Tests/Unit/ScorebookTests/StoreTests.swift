import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import Scorebook

/// Opening scorebooks, and what their tables promise to other programs.
struct StoreTests {
    @Test func aScorebookOutlivesTheProgram() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("scorebook.sqlite").path
            for round in 1...2 {
                let database = try ScorebookDatabase.open(at: path)
                let scorebook = try ScorebookStore(database, replica: ReplicaID(rawValue: 1))
                _ = try await scorebook.addPerson("Ada Lovelace")
                #expect(try await scorebook.persons().count == round)
                try database.close()
            }
        }
    }

    @Test func connectionsAreSetUpForSharing() async throws {
        try await withTemporaryDirectory { directory in
            let database = try ScorebookDatabase.open(at: directory.appendingPathComponent("s.sqlite").path)
            let values = try await database.write { db in
                try ["journal_mode", "foreign_keys", "busy_timeout", "synchronous"].map {
                    try String.fetchOne(db, sql: "PRAGMA \($0)")
                }
            }
            #expect(values == ["wal", "1", "5000", "1"])
        }
    }

    @Test(arguments: ["no database", "SQLite format 2", String(repeating: "x", count: 10_000)])
    func aFileThatIsNoDatabaseIsRefusedAndLeftAsItIs(contents: String) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("scorebook.sqlite")
            try Data(contents.utf8).write(to: file)
            let error = #expect(throws: RecordStoreError.self) { try ScorebookDatabase.open(at: file.path) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("is not a SQLite database") == true)
            #expect(try Data(contentsOf: file) == Data(contents.utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 1)
        }
    }

    @Test func aDirectoryThatIsNotThereIsAnError() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("none/scorebook.sqlite").path
            let error = #expect(throws: ScorebookError.self) { try ScorebookDatabase.open(at: path) }
            #expect(error?.code == .notWritable)
        }
    }

    @Test func aScorebookOfANewerVersionIsRefusedAndLeftAsItIs() async throws {
        let database = try DatabaseQueue()
        _ = try ScorebookStore(database, replica: ReplicaID(rawValue: 1))
        try await database.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('scorebook 99')")
        }
        let dump = {
            try database.read {
                try String.fetchAll($0, sql: "SELECT COALESCE(sql, name) FROM sqlite_master")
            }
        }
        let before = try dump()
        let error = #expect(throws: RecordStoreError.self) {
            try ScorebookStore(database, replica: ReplicaID(rawValue: 1))
        }
        #expect(error?.code == .newerFormat)
        #expect(try dump() == before)
    }

    @Test(arguments: [
        "Ada", "SBGame|~|1", "SBPerson|~|", "SBPerson|~|ü", "SBPerson|~|a\tb",
        "SBPerson|~|" + String(repeating: "x", count: 245),
    ])
    func theTablesRefuseWhatIsNoRecordName(name: String) async throws {
        let scorebook = try Support.scorebook()
        let error = await #expect(throws: DatabaseError.self) {
            try await scorebook.execute("INSERT INTO SBPerson (recordName) VALUES ('\(name)')")
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
    }

    @Test func otherProgramsMayNameOnlySomeColumns() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.execute(
            """
            INSERT INTO SBScore (recordName, player) VALUES ('SBScore|~|1', 'SBPlayer|~|1');
            INSERT INTO SBPlayer (recordName, match, person) VALUES ('SBPlayer|~|1', 'SBMatch|~|1', 'SBPerson|~|1');
            INSERT INTO SBMatchLocation (recordName, match) VALUES ('SBMatchLocation|~|1', 'SBMatch|~|1');
            INSERT INTO SBMatchImage (recordName, match) VALUES ('SBMatchImage|~|1', 'SBMatch|~|1');
            INSERT INTO SBMatch (recordName, game) VALUES ('SBMatch|~|1', 'SBGame|~|1');
            INSERT INTO SBGame (recordName) VALUES ('SBGame|~|1');
            INSERT INTO SBPerson (recordName) VALUES ('SBPerson|~|1');
            """)
        let status = try await scorebook.status()
        #expect(status.digest.count == 7 && status.held == 0)
        for type in ScorebookSchema.schema.types {
            let dates = try await scorebook.rows(
                "SELECT COUNT(*) FROM \(type.name) WHERE modificationDate GLOB '20*Z'")
            #expect(dates == ["1"])
        }
        let sheet = try await scorebook.matchSheet("SBMatch|~|1")
        #expect(sheet.players.map(\.person) == [""])
    }

    @Test func theSchemaListsEveryColumn() async throws {
        let scorebook = try Support.scorebook()
        for type in ScorebookSchema.schema.types {
            let columns = try await scorebook.rows(
                "SELECT name FROM pragma_table_info('\(type.name)') WHERE name NOT IN ('recordName', 'modificationDate')"
            )
            #expect(columns.sorted() == type.fields.map(\.name))
            let references = type.fields.filter { if case .reference = $0.kind { true } else { false } }.map(
                \.name)
            let indexes = try await scorebook.rows(
                "SELECT name FROM pragma_index_list('\(type.name)') WHERE origin = 'c' ORDER BY name")
            let indexed = references + (type.name == "SBMatch" ? ["date"] : [])
            #expect(indexes == indexed.map { "\(type.name)_\($0)" }.sorted())
        }
    }

    @Test func newNamesAreInOrder() {
        let names = (0..<10_000).map { _ in RecordName.new(.game).description }
        #expect(names == names.sorted())
        #expect(Set(names).count == names.count)
        let form = /SBGame\|~\|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(names.allSatisfy { $0.wholeMatch(of: form) != nil })
    }

    @Test func aUUIDBeginsWithTheTimeAndOutlivesAClockThatIsSetBack() {
        let generator = UUIDv7()
        let first = generator.make(milliseconds: 0x0192_F0C1_7A51)
        #expect(first.hasPrefix("0192f0c1-7a51-7"))
        let second = generator.make(milliseconds: 5)
        #expect(second.hasPrefix("0192f0c1-7a51-7") && second > first)
        let many = (0..<5000).map { _ in generator.make(milliseconds: 5) }
        #expect(many == many.sorted() && many[0] > second)
        #expect(generator.make(milliseconds: 0x0192_F0C1_7A60).hasPrefix("0192f0c1-7a60-7"))
    }

    /// Tables that a program has filled for years, and that know nothing of sync.
    @Test func tablesOfAnotherProgramAreTakenIn() async throws {
        let database = try DatabaseQueue()
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE SBGame (recordName TEXT NOT NULL PRIMARY KEY, name TEXT, year INTEGER);
                    CREATE TABLE SBMatch (
                        recordName TEXT NOT NULL PRIMARY KEY, notes TEXT,
                        game TEXT NOT NULL REFERENCES SBGame (recordName) ON DELETE CASCADE);
                    INSERT INTO SBGame VALUES ('SBGame|~|1', 'Catan', 1995);
                    INSERT INTO SBMatch VALUES ('SBMatch|~|1', 'long ago', 'SBGame|~|1');
                    """)
        }
        let scorebook = try ScorebookStore(
            database, replica: ReplicaID(rawValue: 1), now: { Support.now })
        #expect(try await scorebook.status().records["SBGame"] == 1)
        #expect(try await scorebook.status().digest.count == 2)
        #expect(try await scorebook.rows("SELECT name, year, bggID FROM SBGame") == ["Catan|1995|null"])
        try await scorebook.addPerson("Ada Lovelace")
        #expect(try await scorebook.status().digest.count == 3)
    }

    @Test func tablesThatDoNotFitAreLeftAsTheyAre() async throws {
        let database = try DatabaseQueue()
        try await database.write { db in
            try db.execute(sql: "CREATE TABLE SBMatch (recordName TEXT NOT NULL PRIMARY KEY, notes TEXT)")
        }
        let error = #expect(throws: RecordStoreError.self) {
            try ScorebookStore(database, replica: ReplicaID(rawValue: 1))
        }
        #expect(error?.code == .tableMismatch)
        let tables = try await database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        #expect(tables == ["SBMatch"])
    }
}
