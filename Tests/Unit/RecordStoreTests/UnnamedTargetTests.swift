import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// A row that sync cannot name may have rows that refer to it. They stay where they are.
struct UnnamedTargetTests {
    private static let sql = """
        CREATE TABLE Page (url TEXT NOT NULL PRIMARY KEY, title TEXT);
        CREATE TABLE Mark (
            id TEXT NOT NULL PRIMARY KEY, text TEXT,
            page TEXT NOT NULL REFERENCES Page ON DELETE CASCADE, seen TEXT REFERENCES Page ON DELETE SET NULL);
        CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, mark TEXT NOT NULL REFERENCES Mark ON DELETE CASCADE);
        """
    private static let content = """
        INSERT INTO Page VALUES ('', 'start'), ('a', 'A');
        INSERT INTO Mark VALUES ('1', 'x', '', NULL), ('2', 'y', 'a', ''), ('3', 'z', 'a', 'a');
        INSERT INTO Note VALUES ('n', '1');
        """
    private static let marks = "SELECT id, text, page, seen FROM Mark ORDER BY id"
    private static let all = ["1|x||-", "2|y|a|", "3|z|a|a"]

    private static func machine(_ name: String, _ number: UInt64, content: String = "") throws -> Machine {
        let schema = try RecordSchema([
            RecordType("Page", [FieldDefinition("title")]),
            RecordType(
                "Mark",
                [
                    FieldDefinition("text"),
                    FieldDefinition("page", .reference(to: "Page", rule: .cascade, isRequired: true)),
                    FieldDefinition("seen", .reference(to: "Page", rule: .nullify, isRequired: false)),
                ]),
            RecordType(
                "Note", [FieldDefinition("mark", .reference(to: "Mark", rule: .cascade, isRequired: true))]),
        ])
        return try Machine(name, number: number, sql: sql + content, schema: schema)
    }

    /// Both when the store takes in what was there, and when a program writes later.
    @Test(arguments: [true, false])
    func whatRefersToARowWithoutANameStays(wasThereBefore: Bool) async throws {
        let here = try Self.machine("a", 1, content: wasThereBefore ? Self.content : "")
        if !wasThereBefore { try here.shell(Self.content) }
        let status = try await here.status()
        #expect(status.unsynced.map(\.name) == [""])
        #expect(status.held == 0)
        #expect(try here.rows(Self.marks) == Self.all)
        #expect(try here.rows("SELECT * FROM Note") == ["n|1"])
        try here.shell("UPDATE Mark SET text = 'changed', page = '' WHERE id = '3'")
        #expect(try await here.status().held == 0)
        #expect(try here.rows(Self.marks).last == "3|changed||a")
        #expect(
            try await here.store.database.read { try here.store.upkeep.check($0) }.findings.map(\.name) == [
                ""
            ])
    }

    /// Another machine lacks the row, so it holds what needs it, and says which column.
    @Test func anotherMachineHoldsItAndNamesTheColumn() async throws {
        let (here, there) = try (Self.machine("a", 1, content: Self.content), Self.machine("b", 2))
        try await here.sync(with: there)
        #expect(try there.rows(Self.marks) == ["3|z|a|a"])
        let held = try await there.status().heldRecords
        #expect(held.map(\.name) == ["Mark|~|1", "Mark|~|2", "Note|~|n"])
        #expect(
            held.map(\.waitsFor)
                == [.row(column: "page"), .row(column: "seen"), try .record(RecordName("Mark|~|1"))])
        #expect(try await here.digest() == there.digest())
        #expect(try here.rows(Self.marks) == Self.all)
        // Whoever has such a row, too, shows what comes for it.
        try there.shell("INSERT INTO Page VALUES ('', 'mine')")
        try here.shell("UPDATE Mark SET text = 'again'")
        try await here.sync(with: there)
        #expect(try there.rows(Self.marks) == ["1|again||-", "2|again|a|", "3|again|a|a"])
    }

    /// Their deletion is an own one: no machine could find out that they went along.
    @Test func whatGoesWithARowWithoutANameIsDeleted() async throws {
        let (here, there) = try (Self.machine("a", 1, content: Self.content), Self.machine("b", 2))
        try await here.sync(with: there)
        try here.shell("PRAGMA foreign_keys = ON; DELETE FROM Page WHERE url = ''")
        try await here.sync(with: there)
        for machine in [here, there] { #expect(try machine.rows(Self.marks) == ["2|y|a|-", "3|z|a|a"]) }
        #expect(try await there.status().held == 0)
        #expect(try await here.digest() == there.digest())
    }

    @Test func whatIsHeldIsNotLostWhenSyncIsRemoved() async throws {
        let (here, there) = try (Self.machine("a", 1, content: Self.content), Self.machine("b", 2))
        try await here.sync(with: there)
        let database = there.store.database
        await #expect(throws: RecordStoreError.self) {
            try await database.write { try RecordStore.uninstall($0) }
        }
        #expect(try await there.status().held == 3)
        try await database.write { try RecordStore.uninstall($0, losingHeldRecords: true) }
        #expect(try there.rows(Self.marks) == ["3|z|a|a"])
    }
}
