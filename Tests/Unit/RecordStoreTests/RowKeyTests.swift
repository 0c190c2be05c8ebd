import Foundation
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Tables with the keys that an app has: a text, a UUID as BLOB, a number from outside, several columns. Rows and
/// references hold the app's own keys; names of records are made of them at the border.
struct RowKeyTests {
    private static let sql = """
        CREATE TABLE "group" (id BLOB NOT NULL PRIMARY KEY, "order" INTEGER, title TEXT);
        CREATE TABLE Item (
            id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
            "group" BLOB NOT NULL REFERENCES "group" (id) ON DELETE CASCADE,
            parent TEXT REFERENCES Item ON DELETE SET NULL);
        CREATE TABLE Tag (title TEXT NOT NULL PRIMARY KEY);
        CREATE TABLE ItemTag (
            item TEXT NOT NULL REFERENCES Item ON DELETE CASCADE,
            tag TEXT NOT NULL REFERENCES Tag ON DELETE CASCADE,
            PRIMARY KEY (item, tag)) WITHOUT ROWID;
        CREATE TABLE Place (recordName TEXT NOT NULL PRIMARY KEY, title TEXT);
        CREATE TABLE ItemPlace (
            item TEXT NOT NULL REFERENCES Item ON DELETE CASCADE,
            place TEXT NOT NULL REFERENCES Place ON DELETE CASCADE,
            PRIMARY KEY (place, item));
        CREATE TABLE Game (number INTEGER PRIMARY KEY, title TEXT, modificationDate TEXT);
        """

    private static func schema() throws -> RecordSchema {
        try RecordSchema([
            RecordType("group", [FieldDefinition("order"), FieldDefinition("title")]),
            RecordType(
                "Item",
                [
                    FieldDefinition("title"), FieldDefinition("done"),
                    FieldDefinition("group", .reference(to: "group", rule: .cascade, isRequired: true)),
                    FieldDefinition("parent", .reference(to: "Item", rule: .nullify, isRequired: false)),
                ]),
            RecordType("Tag", [FieldDefinition("title")]),
            RecordType(
                "ItemTag",
                [
                    FieldDefinition("item", .reference(to: "Item", rule: .cascade, isRequired: true)),
                    FieldDefinition("tag", .reference(to: "Tag", rule: .cascade, isRequired: true)),
                ]),
            RecordType("Place", [FieldDefinition("title")]),
            RecordType(
                "ItemPlace",
                [
                    FieldDefinition("item", .reference(to: "Item", rule: .cascade, isRequired: true)),
                    FieldDefinition("place", .reference(to: "Place", rule: .cascade, isRequired: true)),
                ]),
            RecordType("Game", [FieldDefinition("title")], areNumbersShared: true),
        ])
    }

    private static let group = "0192f0c17a517cc29a5e6d1b7a52e1b4"
    private static let content = """
        INSERT INTO "group" VALUES (x'\(group)', 1, 'Home');
        INSERT INTO Item (id, title, "group") VALUES ('milk', 'Milk', x'\(group)');
        INSERT INTO Item VALUES ('Käse, 50 %', 'Cheese', 1, x'\(group)', 'milk');
        INSERT INTO Tag VALUES ('cold'), ('🧀');
        INSERT INTO ItemTag VALUES ('milk', 'cold'), ('Käse, 50 %', '🧀');
        INSERT INTO Place VALUES ('Place|~|shop', 'Shop');
        INSERT INTO ItemPlace VALUES ('milk', 'Place|~|shop');
        INSERT INTO Game VALUES (-13, 'Catan', NULL);
        """
    private static let dump = [
        #"SELECT hex(id), typeof(id), "order", title FROM "group" ORDER BY id"#,
        #"SELECT id, typeof(id), title, done, hex("group"), parent FROM Item ORDER BY id"#,
        "SELECT title FROM Tag ORDER BY title", "SELECT item, tag FROM ItemTag ORDER BY item, tag",
        "SELECT title FROM Place", "SELECT place, item FROM ItemPlace",
        "SELECT number, typeof(number), title FROM Game",
    ]

    private let here: Machine
    private let there: Machine

    init() throws {
        here = try Machine("a", number: 1, sql: Self.sql, schema: Self.schema())
        there = try Machine("b", number: 2, sql: Self.sql, schema: Self.schema())
    }

    private func dump(_ machine: Machine) throws -> [[String]] { try Self.dump.map(machine.rows) }

    private func names(_ machine: Machine) async throws -> [String] {
        try await machine.store.foldPendingChanges()
        return try await machine.store.database.read { try machine.store.listing.names($0).map(\.name) }
    }

    private func check(_ machine: Machine) async throws -> StoreCheck {
        try await machine.store.foldPendingChanges()
        return try await machine.store.database.read { try machine.store.upkeep.check($0) }
    }

    private func arrive(_ states: RecordState...) async throws {
        let store = here.store
        try await store.database.write { _ = try store.merge($0, states) }
    }

    @Test func theRowsOfEveryKindOfKeyReachTheOtherMachine() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        #expect(try dump(there) == dump(here))
        #expect(try await here.digest() == there.digest())
        let names = [
            "group|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4", "Item|~|K%C3%A4se%2C 50 %25", "Item|~|milk",
            "Tag|~|cold", "Tag|~|%F0%9F%A7%80", "ItemTag|~|K%C3%A4se%2C 50 %25,%F0%9F%A7%80",
            "ItemTag|~|milk,cold", "Place|~|shop", "ItemPlace|~|Place|~|shop,milk", "Game|~|-13",
        ]
        #expect(try await self.names(there) == names)
        #expect(try there.rows("SELECT modificationDate IS NOT NULL FROM Game") == ["1"])
        #expect(try await check(there).isSound)
        #expect(try await check(here).isSound)
    }

    @Test func theNameOfARecordFollowsFromTheKeyOfItsRow() throws {
        let listing = here.store.listing
        let id = try #require(UUID(uuidString: "0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4"))
        let names = try [
            listing.name(of: [id], in: "GROUP"), listing.name(of: ["Käse, 50 %"], in: "Item"),
            listing.name(of: ["milk", "cold"], in: "ItemTag"),
            listing.name(of: ["Place|~|shop"], in: "Place"), listing.name(of: [-13], in: "Game"),
        ]
        #expect(
            names.map(\.description) == [
                "group|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4", "Item|~|K%C3%A4se%2C 50 %25",
                "ItemTag|~|milk,cold", "Place|~|shop", "Game|~|-13",
            ])
        for key in [[], [""], ["milk", "cold"]] as [[String]] {
            let error = #expect(throws: RecordStoreError.self) { try listing.name(of: key, in: "Item") }
            #expect(error?.code == .noSuchRecord)
        }
        let error = #expect(throws: RecordStoreError.self) { try listing.name(of: ["1"], in: "Shelf") }
        #expect(error?.code == .tableMismatch)
    }

    @Test func changesAndDeletionsFollowTheKeys() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        try there.shell(
            """
            UPDATE Item SET title = 'Oat milk', parent = 'Käse, 50 %' WHERE id = 'milk';
            DELETE FROM ItemTag WHERE tag = 'cold';
            UPDATE Game SET title = 'Catan II' WHERE number = -13;
            """)
        try await here.sync(with: there)
        #expect(try dump(there) == dump(here))
        #expect(
            try here.rows("SELECT title, parent FROM Item WHERE id = 'milk'") == ["Oat milk|Käse, 50 %"])
        #expect(try here.rows("SELECT COUNT(*) FROM ItemTag") == ["1"])
        #expect(try here.rows("SELECT title FROM Game") == ["Catan II"])
    }

    /// The delete rules hide what belongs to a deleted record, and empty the references to it, by the app's keys.
    @Test func whatGoesWithARecordComesBackWithIt() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        let before = try dump(here)
        let milk = try RecordName("Item|~|milk")
        let store = there.store
        try await store.database.write { _ = try store.delete($0, milk) }
        try await here.sync(with: there)
        #expect(try here.rows("SELECT id, parent FROM Item") == ["Käse, 50 %|-"])
        #expect(try here.rows("SELECT item FROM ItemTag") == ["Käse, 50 %"])
        #expect(try dump(here) == dump(there))
        #expect(try await check(here).isSound)
        try await store.database.write { _ = try store.restore($0, milk) }
        try await here.sync(with: there)
        #expect(try dump(here) == before)
        #expect(try dump(there) == before)
    }

    @Test func aRowWithAnotherKeyIsAnotherRecord() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        try here.shell("UPDATE ItemTag SET tag = '🧀' WHERE item = 'milk'")
        try here.shell("UPDATE Game SET number = 13")
        try await here.sync(with: there)
        #expect(try dump(there) == dump(here))
        #expect(try there.rows("SELECT tag FROM ItemTag WHERE item = 'milk'") == ["🧀"])
        #expect(try await here.state("ItemTag|~|milk,cold")?.isDeleted == true)
        #expect(try await there.state("Game|~|-13")?.isDeleted == true)
    }

    /// Both machines give an item the same tag while they are apart: a key of values makes one record of the two.
    @Test func theSameKeyOnTwoMachinesIsOneRecord() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        for machine in [here, there] {
            try machine.shell("INSERT INTO Tag VALUES ('new'); INSERT INTO ItemTag VALUES ('milk', 'new')")
        }
        try await here.sync(with: there)
        #expect(try dump(here) == dump(there))
        #expect(try here.rows("SELECT COUNT(*) FROM ItemTag WHERE tag = 'new'") == ["1"])
        #expect(try await here.digest() == there.digest())
    }

    /// A text is read and bound by its length.
    @Test func aKeyWithNULIsNotTheKeyBeforeIt() async throws {
        try here.shell("INSERT INTO Tag VALUES ('milk'), (CAST(x'6d696c6b00' AS TEXT))")
        #expect(try await names(here) == ["Tag|~|milk", "Tag|~|milk%00"])
        try await here.sync(with: there)
        #expect(try there.rows("SELECT hex(title) FROM Tag ORDER BY 1") == ["6D696C6B", "6D696C6B00"])
        try there.shell("DELETE FROM Tag WHERE hex(title) = '6D696C6B00'")
        try await here.sync(with: there)
        #expect(try here.rows("SELECT hex(title) FROM Tag") == ["6D696C6B"])
        #expect(try await check(here).isSound)
    }

    /// Columns of keys may be dates; a comparison with a collation of the column's own would miss a change of capitals.
    @Test func otherColumnsOfAppsAreTakenAsTheyAre() async throws {
        let sql = """
            CREATE TABLE Day (
                day TEXT NOT NULL PRIMARY KEY, note TEXT COLLATE NOCASE, modificationDate INTEGER);
            """
        let schema = try RecordSchema([
            RecordType("Day", [FieldDefinition("day", .date), FieldDefinition("note")])
        ])
        let (one, other) = (
            try Machine("c", number: 3, sql: sql, schema: schema),
            try Machine("d", number: 4, sql: sql, schema: schema)
        )
        try one.shell("INSERT INTO Day VALUES ('2026-01-01T00:00:00Z', 'rain', 7)")
        try await one.sync(with: other)
        try one.shell("UPDATE Day SET note = 'Rain'")
        try await one.sync(with: other)
        #expect(try one.rows("SELECT * FROM Day") == ["2026-01-01T00:00:00Z|Rain|7"])
        #expect(try other.rows("SELECT day, note FROM Day") == ["2026-01-01T00:00:00Z|Rain"])
        #expect(try await check(other).isSound)
    }

    @Test func rowsMayComeBeforeTheRowsToWhichTheyRefer() async throws {
        try here.shell(
            "INSERT INTO ItemTag VALUES ('milk', 'cold'); INSERT INTO Tag VALUES ('cold');"
                + Self.content.split(separator: ";").prefix(2).joined(separator: ";"))
        #expect(try await here.status().held == 0)
        #expect(try here.rows("SELECT item FROM ItemTag") == ["milk"])
        try await here.sync(with: there)
        #expect(try dump(there) == dump(here))
    }

    @Test func aReferenceWaitsForItsTarget() async throws {
        try here.shell(Self.content)
        try await here.store.foldPendingChanges()
        let state = try #require(try await here.state("ItemTag|~|milk,cold"))
        let store = there.store
        try await store.database.write { _ = try store.merge($0, [state]) }
        #expect(try await there.status().held == 1)
        #expect(try await there.status().zones.first?.digest.count == 1)
        try await here.sync(with: there)
        #expect(try await there.status().held == 0)
        #expect(try dump(there) == dump(here))
    }

    // MARK: Keys that cannot be synced

    @Test(arguments: [
        ("INSERT INTO Tag VALUES ('')", "Tag", ""),
        ("INSERT INTO Tag VALUES (printf('%.250c', 'x'))", "Tag", String(repeating: "x", count: 250)),
        ("INSERT INTO Tag VALUES (x'ff')", "Tag", "x'ff'"),
        ("INSERT INTO Tag VALUES (CAST(x'ff' AS TEXT))", "Tag", "\u{FFFD}"),
        (#"INSERT INTO "group" (id) VALUES ('home')"#, "group", "home"),
        (#"INSERT INTO "group" (id) VALUES (x'')"#, "group", "x''"),
        (
            "INSERT INTO ItemTag VALUES ('', 'cold')", "ItemTag",
            #"["t","tcold"]"#
        ),
    ])
    func aRowWhoseKeyHasNoNameIsNamedAndLeavesTheListWithTheRow(
        insert: String, table: String, shown: String
    ) async throws {
        try here.shell("INSERT INTO Tag VALUES ('cold');" + insert)
        let status = try await here.status()
        #expect(status.unsynced == [UnsyncedRecord(table: table, name: shown, reason: .name)])
        #expect(try await check(here).findings == [.init(name: shown, kind: .invalidName)])
        try await here.sync(with: there)
        #expect(try there.rows(#"SELECT COUNT(*) FROM Tag, (SELECT COUNT(*) FROM "group")"#) == ["1"])
        try here.shell(#"DELETE FROM Tag WHERE title <> 'cold'; DELETE FROM "group"; DELETE FROM ItemTag"#)
        #expect(try await here.status().unsynced == [])
        #expect(try await check(here).isSound)
    }

    /// Another program on another machine may send any name. No row here can have these, so they wait, and nothing is
    /// lost.
    @Test(arguments: [
        "Tag|~|%41", "Tag|~|%zz", "Tag|~|a,b", "Tag|~|%FF", "ItemTag|~|milk", "ItemTag|~|milk,cold,x",
        "Game|~|013", "Game|~|x", "group|~|0192F0C1-7A51-7CC2-9A5E-6D1B7A52E1B4", "group|~|abc",
    ])
    func aNameThatIsNoKeyOfTheTableWaits(text: String) async throws {
        let name = try RecordName(text)
        let stamp = Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 9))
        let values: [String: FieldValue] =
            name.recordType == "ItemTag"
            ? [
                "item": .reference(try RecordName("Item|~|milk")),
                "tag": .reference(try RecordName("Tag|~|cold")),
            ] : ["title": .text("A")]
        try here.shell(Self.content)
        try await here.store.foldPendingChanges()
        let state = RecordState(
            name: name, fields: values.map { RecordField(name: $0, value: $1, stamp: stamp) })
        let before = try dump(here)
        try await arrive(state)
        #expect(try dump(here) == before)
        let store = here.store
        let held = try await store.database.read { try store.listing.held($0) }
        #expect(held.map(\.name) == [text])
        #expect(held.map(\.waitsFor) == [.key])
        #expect(try await here.state(text) == state)
        #expect(try await check(here).isSound)
    }

    /// The columns of a key are in the name and among the fields. A record in which the two differ would have a row that
    /// refers to another record than its state.
    @Test func aRecordWhoseFieldsContradictItsNameWaits() async throws {
        try here.shell(Self.content)
        try await here.store.foldPendingChanges()
        let stamp = Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 9))
        let state = try RecordState(
            name: RecordName("ItemTag|~|gone,cold"),
            fields: [
                RecordField(name: "item", value: .reference(RecordName("Item|~|milk")), stamp: stamp),
                RecordField(name: "tag", value: .reference(RecordName("Tag|~|cold")), stamp: stamp),
            ])
        try await arrive(state)
        #expect(try await here.status().held == 1)
        #expect(try here.rows("SELECT COUNT(*) FROM ItemTag") == ["2"])
    }

    /// An INTEGER key goes by several names in SQL.
    @Test(arguments: ["number", "rowid", "oid", "_rowid_"])
    func aNumberThatChangesIsAnotherRecord(column: String) async throws {
        try here.shell("INSERT INTO Game VALUES (3, 'Azul', NULL)")
        try await here.sync(with: there)
        try here.shell("UPDATE Game SET \(column) = 5 WHERE number = 3")
        try await here.sync(with: there)
        #expect(try there.rows("SELECT number, title FROM Game") == ["5|Azul"])
        #expect(try await here.digest() == there.digest())
    }

    // MARK: Rows that the triggers missed

    @Test func rowsThatWereThereBeforeSyncAreTakenIn() async throws {
        let early = try Machine("c", number: 3, sql: Self.sql + Self.content, schema: Self.schema())
        try await early.sync(with: there)
        #expect(try dump(there) == dump(early))
        #expect(try await early.digest() == there.digest())
        #expect(try await there.status().zones.first?.digest.count == 10)
    }

    @Test func aRepairTakesInWhatWasWrittenWithoutTriggers() async throws {
        try here.shell(Self.content)
        try await here.sync(with: there)
        try here.shell(
            """
            INSERT INTO grdb_sync_capturePause VALUES (1);
            UPDATE Item SET title = 'Soy milk' WHERE id = 'milk';
            DELETE FROM ItemTag WHERE item = 'milk';
            INSERT INTO Tag VALUES ('late, 1');
            DELETE FROM grdb_sync_capturePause;
            """)
        let findings = try await check(here).findings
        #expect(
            findings == [
                .init(name: "ItemTag|~|milk,cold", kind: .missingRow),
                .init(name: "Item|~|milk", kind: .changedRow),
                .init(name: "Tag|~|late%2C 1", kind: .unknownRow),
            ])
        let store = here.store
        try await store.database.write { _ = try store.upkeep.repair($0) }
        #expect(try await check(here).isSound)
        // The other machine sends everything again, for it hears that its token is void.
        try await there.sync(with: here)
        #expect(try dump(here) == dump(there))
        #expect(try there.rows("SELECT title FROM Item WHERE id = 'milk'") == ["Soy milk"])
        #expect(try here.rows("SELECT COUNT(*) FROM ItemTag") == ["2"])
    }

    @Test func anErasedZoneLeavesNoRow() async throws {
        try here.shell(Self.content)
        try await here.store.foldPendingChanges()
        let store = here.store
        try await store.database.write { db in
            _ = try store.zones.erase(db, #require(store.status(db).zones.first))
        }
        #expect(try dump(here) == [[], [], [], [], [], [], []])
        #expect(try await check(here).isSound)
    }
}
