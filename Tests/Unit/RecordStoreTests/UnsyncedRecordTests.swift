import PeerSyncModel
import PeerSyncStore
import Synchronization
import Testing

/// A row that sync cannot carry stays where it is, is named with the reason, and touches no other record.
struct UnsyncedRecordTests {
    private let a: Machine
    private let b: Machine

    init() async throws {
        a = try Machine("a", number: 1)
        b = try Machine("b", number: 2)
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane')")
        try a.shell("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top')")
        try await a.sync(with: b)
    }

    /// What the status says of rows that are not synced, each as "table name reason".
    private func unsynced(_ machine: Machine) async throws -> [String] {
        try await machine.status().unsynced.map { "\($0.table) \($0.name) \($0.reason)" }
    }

    // MARK: Names

    /// A name that cannot be one, as SQL writes it and as people are told of it.
    struct BadName: Sendable, CustomTestStringConvertible {
        let sql: String
        let shown: String

        var testDescription: String { sql }
    }

    private static let badNames = [
        // Up to the NUL it is the name of another record.
        BadName(sql: "'Author|~|1' || char(0) || 'x'", shown: "Author|~|1\\u{0}x"),
        // The name of a record of another table.
        BadName(sql: "'Shelf|~|1'", shown: "Shelf|~|1"),
        BadName(sql: "'Shelf|~|nowhere'", shown: "Shelf|~|nowhere"),
        BadName(sql: "'Author'", shown: "Author"),
        BadName(sql: "''", shown: ""),
        BadName(sql: "'Author|~|é'", shown: "Author|~|é"),
        BadName(sql: "x'417574686F727C7E7C31'", shown: "x'417574686f727c7e7c31'"),
    ]

    @Test(arguments: badNames)
    func aRowWhoseNameCannotBeSyncedIsNamed(name: BadName) async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES (\(name.sql), 'nobody')")
        #expect(try await unsynced(a) == ["Author \(name.shown) name"])
        #expect(try await a.status().pending == 0)
        try a.shell("UPDATE Author SET name = 'somebody' WHERE recordName = \(name.sql)")
        #expect(try await unsynced(a) == ["Author \(name.shown) name"])
    }

    /// Neither writing nor deleting such a row says anything of the record whose name it has, or begins with.
    @Test(arguments: badNames)
    func aRowWhoseNameCannotBeSyncedTouchesNoRecord(name: BadName) async throws {
        let before = try await [a.state("Author|~|1"), a.state("Shelf|~|1")]
        for sql in [
            "INSERT INTO Author (recordName, name) VALUES (\(name.sql), 'nobody')",
            "UPDATE Author SET name = 'somebody' WHERE recordName = \(name.sql)",
            "DELETE FROM Author WHERE recordName = \(name.sql)",
        ] {
            try a.shell(sql)
            #expect(try await [a.state("Author|~|1"), a.state("Shelf|~|1")] == before)
        }
        #expect(try await a.send(to: b) == 0)
        #expect(try await unsynced(a).isEmpty)
    }

    /// An edit made elsewhere is newer than the record here, and stays.
    @Test func anEditMadeElsewhereIsNotTakenBack() async throws {
        try b.shell("UPDATE Author SET name = 'Jane Austen'")
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1' || char(0), 'nobody')")
        try await a.sync(with: b)
        let names = "SELECT name FROM Author WHERE recordName = 'Author|~|1'"
        #expect(try a.rows(names) == ["Jane Austen"])
        #expect(try b.rows(names) == ["Jane Austen"])
    }

    @Test(arguments: badNames)
    func anotherNameMendsIt(name: BadName) async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES (\(name.sql), 'nobody')")
        #expect(try await unsynced(a).count == 1)
        try a.shell("UPDATE Author SET recordName = 'Author|~|2' WHERE recordName = \(name.sql)")
        #expect(try await unsynced(a).isEmpty)
        try await a.sync(with: b)
        #expect(try b.rows("SELECT name FROM Author WHERE recordName = 'Author|~|2'") == ["nobody"])
    }

    @Test(arguments: badNames)
    func aRecordThatGetsSuchANameIsDeletedForOthersAndNamedHere(name: BadName) async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Emily')")
        try await a.sync(with: b)
        try a.shell("UPDATE Author SET recordName = \(name.sql) WHERE recordName = 'Author|~|2'")
        #expect(try await unsynced(a) == ["Author \(name.shown) name"])
        try await a.sync(with: b)
        #expect(try b.rows("SELECT recordName FROM Author") == ["Author|~|1"])
        #expect(try a.rows("SELECT COUNT(*) FROM Author") == ["2"])
    }

    /// `status --check` finds the same rows by looking at all, and says that it cannot mend them.
    @Test(arguments: badNames)
    func aCheckNamesIt(name: BadName) async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES (\(name.sql), 'nobody')")
        _ = try await a.status()
        let found = try await a.store.database.write { [store = a.store] in try store.upkeep.repair($0) }
        #expect(found.findings.map(\.name) == [name.shown])
        #expect(found.findings.map(\.kind) == [.invalidName])
        #expect(!found.isMendable)
        #expect(try a.rows("SELECT COUNT(*) FROM Author") == ["2"])
    }

    /// Rows that were there before sync was.
    @Test func rowsThatWereThereBeforeAreNamed() async throws {
        let old = try Machine(
            "old", number: 3,
            sql: Library.sql + """
                INSERT INTO Author (recordName, name) VALUES
                    ('Author|~|1', 'Jane'), ('Shelf|~|1', 'no author'), ('Author|~|1' || char(0), 'nobody');
                """)
        #expect(try await unsynced(old) == ["Author Author|~|1\\u{0} name", "Author Shelf|~|1 name"])
        #expect(try await old.status().digest.count == 1)
    }

    /// SQLite reads the whole table to find the key of several columns as the journal has it.
    @Test func rowsWithoutNamesAreNotedTogether() async throws {
        let machine = try Machine(
            "c", number: 3,
            sql:
                "CREATE TABLE Word (word TEXT NOT NULL, language TEXT NOT NULL, text TEXT, PRIMARY KEY (word, language))",
            schema: RecordSchema([RecordType("Word", [FieldDefinition("text")])]))
        try machine.shell(
            """
            WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 50)
            INSERT INTO Word (word, language) SELECT n, '' FROM number;
            UPDATE Word SET text = 'x' WHERE word > '3';
            DELETE FROM Word WHERE word < '2';
            """)
        let writes = Mutex(0)
        try await machine.store.database.write { db in
            db.trace(options: .statement) { event in
                let isWrite = ["DELETE FROM", "INSERT INTO"].contains {
                    "\(event)".hasPrefix("\($0) grdb_sync_unsyncedRecord")
                }
                if isWrite { writes.withLock { $0 += 1 } }
            }
        }
        try await machine.store.foldPendingChanges()
        #expect(writes.withLock { $0 } == 2)
        #expect(try machine.rows("SELECT COUNT(*) FROM grdb_sync_unsyncedRecord") == ["39"])
    }

    /// The journal's column turns numbers into texts, the table's does not.
    @Test func aNumberInAKeyOfBytesIsNamed() async throws {
        let machine = try Machine(
            "c", number: 3, sql: "CREATE TABLE Part (id BLOB NOT NULL PRIMARY KEY, text TEXT)",
            schema: RecordSchema([RecordType("Part", [FieldDefinition("text")])]))
        try machine.shell("INSERT INTO Part VALUES (17, 'a'), (5.5, 'b'), (x'01', 'c'), ('x', 'd')")
        #expect(try await unsynced(machine) == ["Part 17 name", "Part 5.5 name", "Part x name"])
        try machine.shell("DELETE FROM Part WHERE id = 17")
        #expect(try await unsynced(machine) == ["Part 5.5 name", "Part x name"])
    }

    // MARK: Texts

    @Test func aTextThatIsNoUTF8IsNamedAndTheOthersGetItInAnotherForm() async throws {
        try a.shell(
            """
            INSERT INTO Author (recordName, name) VALUES
                ('Author|~|2', CAST(x'61FF62' AS TEXT)), ('Author|~|3', 'a\u{FFFD}b')
            """)
        #expect(try await unsynced(a) == ["Author Author|~|2 text"])
        try await a.sync(with: b)
        let names = "SELECT hex(name) FROM Author WHERE recordName > 'Author|~|1' ORDER BY recordName"
        #expect(try b.rows(names) == ["61EFBFBD62", "61EFBFBD62"])
        #expect(try await unsynced(b).isEmpty)
        // What others write in other fields leaves the text and the note.
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z' WHERE recordName = 'Author|~|2'")
        try await a.sync(with: b)
        #expect(try a.rows(names) == ["61FF62", "61EFBFBD62"])
        #expect(try await unsynced(a) == ["Author Author|~|2 text"])
        try a.shell("UPDATE Author SET name = 'ab' WHERE recordName = 'Author|~|2'")
        #expect(try await unsynced(a).isEmpty)
        try a.shell("UPDATE Author SET name = CAST(x'C328' AS TEXT) WHERE recordName = 'Author|~|3'")
        #expect(try await unsynced(a) == ["Author Author|~|3 text"])
        try await a.sync(with: b)
        #expect(try await a.digest() == b.digest())
    }

    // MARK: Sizes

    private static let large = "zeroblob(9 << 20)"

    private func repaired(_ machine: Machine) async throws -> StoreCheck {
        try await machine.store.database.write { [store = machine.store] in try store.upkeep.repair($0) }
    }

    @Test func aRecordThatIsTooLargeStaysAndTheOthersGo() async throws {
        try a.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Emily'), ('Author|~|3', \(Self.large));
            INSERT INTO Author (recordName, name) VALUES ('Author|~|4', 'Anne');
            """)
        #expect(try await unsynced(a) == ["Author Author|~|3 size"])
        try await a.sync(with: b)
        #expect(try b.rows("SELECT name FROM Author ORDER BY recordName") == ["Jane", "Emily", "Anne"])
        #expect(try await unsynced(b).isEmpty)
        try a.shell("UPDATE Author SET name = 'Charlotte' WHERE recordName = 'Author|~|3'")
        #expect(try await unsynced(a).isEmpty)
        try await a.sync(with: b)
        #expect(try b.rows("SELECT COUNT(*) FROM Author") == ["4"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aRecordThatHasBecomeTooLargeStaysAsOthersKnowIt() async throws {
        try a.shell("UPDATE Author SET name = \(Self.large)")
        #expect(try await unsynced(a) == ["Author Author|~|1 size"])
        try await a.sync(with: b)
        #expect(try b.rows("SELECT name FROM Author") == ["Jane"])
        // What others write in other fields of it is taken in.
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        try await a.sync(with: b)
        #expect(try a.rows("SELECT length(name), born FROM Author") == ["9437184|1775-12-16T00:00:00Z"])
        // Deleted, it is small again.
        try a.shell("DELETE FROM Author")
        #expect(try await unsynced(a).isEmpty)
        try await a.sync(with: b)
        #expect(try b.rows("SELECT COUNT(*) FROM Author") == ["0"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aWholeCopyLeavesItOut() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|0', \(Self.large))")
        _ = try await a.status()
        let peer = try await a.store.peers.add(key: b.key, name: "b")
        let peerZone = PeerZone(store: a.store, peer: peer)
        let inOrderOfName = BatchLimit(
            records: 10, bytes: 1000, groupRecords: 10, groupBytes: 1000, recordsCopiedInGroups: 0)
        let names = try await a.store.database.read { db in
            var (names, place, isLast) = ([String](), ReadingPlace(.start), false)
            while !isLast {
                let read = try peerZone.nextBatch(
                    db, after: place, includingEcho: true, limit: inOrderOfName)
                names += read.batch.records.map(\.name.description)
                (place, isLast) = (read.place, read.batch.isLast)
            }
            return names
        }
        #expect(names.sorted() == ["Author|~|1", "Shelf|~|1"])
        let asked = try await a.store.database.read { db in
            try peerZone.states(db, named: [RecordName("Author|~|0"), RecordName("Author|~|1")])
        }
        #expect(asked.records.map(\.name.description) == ["Author|~|1"])
    }

    @Test func aCheckNamesWhatIsTooLargeAndLeavesIt() async throws {
        try a.shell("UPDATE Author SET name = \(Self.large)")
        _ = try await a.status()
        // As a store of before would be, which did not note it.
        try a.shell("DELETE FROM grdb_sync_unsyncedRecord")
        let found = try await repaired(a)
        #expect(found.findings.map(\.kind) == [.tooLarge] && !found.isMendable)
        #expect(try await unsynced(a) == ["Author Author|~|1 size"])
        // What peers hold of this store is still good.
        #expect(try await a.send(to: b) == 0)
    }
}
