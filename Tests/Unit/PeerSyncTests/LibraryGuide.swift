import Foundation
import GRDB
import PeerSync

/// The first sample of docs/library.md, so that it compiles; LibraryGuideTests holds the two against each other.
private func sample() async throws {
    // Your own tables, with their own keys. References are foreign keys.
    let database = try DatabasePool(path: "library.sqlite")
    try await database.write { db in
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS Author (
                    id TEXT NOT NULL PRIMARY KEY, name TEXT);
                CREATE TABLE IF NOT EXISTS Book (
                    id TEXT NOT NULL PRIMARY KEY, title TEXT,
                    author TEXT NOT NULL REFERENCES Author (id)
                        ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
                """)
    }

    // From here on every write to these tables counts, whoever makes it.
    let sync = try SyncEngine(for: database, app: "org.example.books", tables: ["Author", "Book"]) { event in
        print(event)
    }
    try await database.write { db in
        try db.execute(
            sql: "INSERT INTO Author (id, name) VALUES (?, ?)",
            arguments: [UUID().uuidString.lowercased(), "Jane Austen"])
    }

    // One machine shows a code, and the other one says, once: try await sync.pair(with: "192.168.1.20", code: "123-456")
    print("pair with the code \(await sync.showPairingCode())")

    // This keeps all paired machines in step, until its task is cancelled. A machine that is not there is no error.
    try await sync.run()
}

/// The sample of its section on keys.
private func keySample(_ database: DatabasePool) async throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("keys that sync") { db in
        try KeyMigration.numbersToUUIDs(db, in: ["TodoList", "Item"])
        try KeyMigration.deriveKey(db, in: "Tag", from: ["name"])
    }
    try migrator.migrate(database)

    // Two machines may both make this tag while they are offline. It is one record.
    try await database.write { db in
        try db.execute(
            sql: "INSERT INTO Tag (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
            arguments: [UUID(derivedFrom: "work"), "work"])
    }
}
