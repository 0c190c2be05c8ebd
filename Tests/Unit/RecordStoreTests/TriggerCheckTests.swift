import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// A trigger of an app that would end the transaction in which sync writes is refused when the store is opened; not one that sync never
/// fires.
struct TriggerCheckTests {
    @Test(
        arguments: [
            ("", "the trigger keep on Author says RAISE(ROLLBACK)"),
            ("WHEN NOT EXISTS (SELECT 1 FROM grdb_sync_capturePause)", nil),
        ] as [(String, String?)])
    func aTriggerThatEndsTheTransactionIsRefused(condition: String, reason: String?) throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try RecordStore.createCapturePause(db)
            try db.execute(
                sql: """
                    CREATE TABLE Author (id TEXT PRIMARY KEY, name TEXT);
                    CREATE TRIGGER keep BEFORE DELETE ON author \(condition)
                    BEGIN SELECT raise ( /* ends it */ rollback, 'kept'); END;
                    """)
        }
        let open = { _ = try RecordStore(database, tables: ["Author"], replica: ReplicaID(rawValue: 1)) }
        guard let reason else { return try open() }
        let error = #expect(throws: RecordStoreError.self) { try open() }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            ("BEFORE UPDATE OF pin ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", false),
            ("BEFORE UPDATE OF pin, NAME ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            ("BEFORE UPDATE OF \"id\" ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            ("BEFORE UPDATE OF modificationDate ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            // SQLite empties it when its row of Shelf goes.
            ("BEFORE UPDATE OF shelf ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            ("BEFORE UPDATE ON Author BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            ("AFTER INSERT ON Author BEGIN INSERT or rollback INTO Shelf VALUES (NEW.id); END", true),
            ("AFTER INSERT ON Author BEGIN UPDATE OR ROLLBACK Shelf SET id = NEW.id; END", true),
            ("AFTER INSERT ON Author BEGIN INSERT OR ABORT INTO Shelf VALUES (NEW.id); END", false),
            ("BEFORE DELETE ON Loan BEGIN SELECT RAISE(ROLLBACK, 'no'); END", true),
            ("BEFORE INSERT ON Loan BEGIN SELECT RAISE(ROLLBACK, 'no'); END", false),
        ])
    func aTriggerThatEndsTheTransactionIsRefusedWhereSyncFiresIt(trigger: String, isRefused: Bool) throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Shelf (id TEXT PRIMARY KEY);
                    CREATE TABLE Author (
                        id TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, pin TEXT,
                        shelf TEXT REFERENCES Shelf ON DELETE SET NULL);
                    CREATE TABLE Loan (author TEXT REFERENCES Author ON DELETE CASCADE);
                    CREATE TRIGGER keep \(trigger);
                    """)
        }
        let open = {
            _ = try RecordStore(
                database, schema: RecordSchema([RecordType("Author", [FieldDefinition("name")])]),
                replica: ReplicaID(rawValue: 1))
        }
        guard isRefused else { return try open() }
        let error = #expect(throws: RecordStoreError.self) { try open() }
        let message = error?.message ?? ""
        #expect(message.contains("says RAISE(ROLLBACK) or OR ROLLBACK"), "\(message)")
    }
}
