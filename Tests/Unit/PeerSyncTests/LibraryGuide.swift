import Foundation
import GRDB
import PeerSync

// Samples that need one of these say so in their article. The first one shows those above.
import PeerSyncMailbox
import Synchronization

// The samples of the catalogue in Sources/PeerSync/PeerSync.docc, so that they compile. LibraryGuideTests holds the two against
// each other, and runs some of them. The guide does not show a line `// Not shown.`, nor what follows it.

private struct Item: TableRecord {}
private struct Tag: TableRecord {}
private struct Book: TableRecord { let id: String }
private protocol Keychain {
    func secret() throws -> Data?
    func add(_ secret: Data) throws
}

private func firstProgram() async throws {
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
    print("pair with the code \(try await sync.showPairingCode())")

    // This keeps all paired machines in step, until its task is cancelled. A machine that is not there is no error.
    try await sync.run()
}

private func secondMachine(_ sync: SyncEngine) async throws {
    let report = try await sync.pair(with: "192.168.1.20", code: "123-456")
    print("in sync with \(report.peer)")
    try await sync.run()
}

private func startAndStop(_ sync: SyncEngine) async throws {
    try await sync.start()
    // Where somebody asks for it:
    for (machine, result) in try await sync.syncNow() {
        switch result {
        case .success(let report): print("\(machine): \(report.statistics.recordsReceived) records")
        case .failure(let error): print("\(machine): \(error)")
        }
    }
    await sync.stop()
}

private func useMailbox(_ sync: SyncEngine) async throws {
    let folder = URL(fileURLWithPath: "/mnt/nas/books")
    let mailboxes = sync.store.mailboxes
    if try await mailboxes.all().isEmpty { try await mailboxes.add("nas", location: folder.path) }
    let entry = try await mailboxes.find("nas")
    let mailbox = Mailbox(sync, entry, in: FolderStorage(at: folder)) { event in print(event) }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await sync.run() }
        group.addTask { try await mailbox.run() }
        // The first that throws ends the other.
        for try await _ in group {}
    }
}

private func options() -> [SyncedTable] {
    let tables: [SyncedTable] = [
        "TodoList",
        SyncedTable(Item.self, dates: ["due"], files: ["photo"], local: ["isExpanded"]),
    ]
    // Not shown.
    return tables
}

func keep(_ url: URL, _ files: AssetDirectory, _ sync: SyncEngine, _ database: DatabaseQueue) async throws {
    struct Item: Codable, FetchableRecord, PersistableRecord {
        let id: String
        var photo: Asset?
    }
    let photo = try files.add(url)
    try await database.write { db in try Item(id: "1", photo: photo).insert(db) }
    // The same on every machine; nil while the file has not come there.
    if let file = sync.store.assets.file(photo) { print(file.path) }
}

private func sharedNumbers() -> SyncedTable {
    let games = SyncedTable("Game", areNumbersShared: true)
    // Not shown.
    return games
}

private func duplicates() -> SyncedTable {
    let tags = SyncedTable(Tag.self, holdsDuplicates: true)
    // Not shown.
    return tags
}

func migrateKeys(_ database: some DatabaseWriter) async throws {
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

func renameTag(_ database: some DatabaseWriter) async throws {
    try await database.write { db in
        let (work, office) = (UUID(derivedFrom: "work"), UUID(derivedFrom: "office"))
        try db.execute(
            sql: "INSERT INTO Tag (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
            arguments: [office, "office"])
        // An item that has both tags keeps one. The other goes with its tag, by ON DELETE CASCADE.
        try db.execute(
            sql: "UPDATE OR IGNORE ItemTag SET tag = ? WHERE tag = ?", arguments: [office, work])
        try db.execute(sql: "DELETE FROM Tag WHERE id = ?", arguments: [work])
    }
}

func createTrigger() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("time of the last edit") { db in
        try RecordStore.createCapturePause(db)
        try db.execute(
            sql: """
                CREATE TRIGGER touched AFTER UPDATE OF title ON Item
                WHEN NOT EXISTS (SELECT 1 FROM grdb_sync_capturePause)
                BEGIN UPDATE Item SET editedAt = CURRENT_TIMESTAMP WHERE id = NEW.id; END
                """)
    }
    // Not shown.
    return migrator
}

func dropColumn() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("books without a shelf") { db in
        try RecordStore.stopCapturing(db, of: "Book")
        try db.alter(table: "Book") { table in
            table.drop(column: "shelf")
            table.add(column: "pages", .integer).notNull().defaults(to: 0)
        }
    }
    // Not shown.
    return migrator
}

private func renamed() -> [SyncedTable] {
    let tables: [SyncedTable] = [
        SyncedTable("Writer", formerName: "Author"),
        SyncedTable("Book", formerColumns: ["writer": "author", "heading": "title"]),
    ]
    // Not shown.
    return tables
}

private func showStatus(_ sync: SyncEngine, _ database: DatabasePool, _ book: Book) async throws -> Bool {
    for try await status in sync.status {
        print(
            status.pending, status.pendingByPeer, status.heldRecords, status.refused, status.unsynced,
            status.peers.map(\.isConnected))
        if let progress = status.progress["kitchen"] {
            print(progress.recordsReceived, progress.recordsLeftToReceive ?? 0)
        }
    }
    let waits = try await database.read { db in try sync.isPending(db, book.id, of: Book.self) }
    // Not shown.
    return waits
}

func restoreLast(_ database: some DatabaseReader, _ sync: SyncEngine) async throws {
    try await sync.store.foldPendingChanges()  // also what was deleted just now
    let gone = try await database.read { db in try sync.store.listing.deleted(db, type: "Book") }
    if let last = gone.first {
        try await sync.store.write { db in try sync.store.restore(db, last.name) }
    }
}

private func showHistory(_ sync: SyncEngine, _ database: DatabasePool, _ book: Book) async throws {
    let name = try sync.store.listing.name(of: [book.id], in: "Book")
    for entry in try await database.read({ db in try sync.store.history.entries(db, of: name) }) {
        print(entry.field ?? "the whole record", entry.lost.value, entry.won.value)
    }
}

private func pairAgain(_ sync: SyncEngine, _ address: String, _ code: String) async throws {
    try await sync.pair(with: address, code: code, union: .beside)
}

private func words(_ sync: SyncEngine, _ address: String, _ code: String) async throws {
    do {
        try await sync.pair(with: address, code: code)
    } catch let error as PeerSyncError {
        switch error.code {
        case .pairingFailed: print("That is not the code.")
        case .pairingUnavailable: print("Let the other machine show a new code.")
        case .unreachable, .timeout: print("Nothing answers at \(address).")
        default: print(error.message)
        }
    }
}

private func grants(_ sync: SyncEngine) async throws {
    try await sync.store.zones.create("club")
    try await sync.store.zones.grant(.read, to: "study", in: "club")
    try await sync.store.peers.forget("lost laptop")
}

private func writeIntoZone(_ sync: SyncEngine) async throws {
    let club = try await sync.store.zones.find(named: "club")
    try await sync.store.write { db in
        try db.execute(sql: "INSERT INTO TodoList (id, title) VALUES ('2', 'Summer party')")
        _ = try sync.store.fold(db, newIn: .one(club))
    }
}

private func household(_ sync: SyncEngine) async throws {
    let members = try await sync.store.household.members()
    print(members.map { "\($0.name), introduced by \($0.introducer)" })
    try await sync.removeFromHousehold("lost laptop")
}

private func ownIdentity(_ database: DatabasePool, _ keychain: some Keychain) throws -> SyncEngine {
    let identity: Identity
    // nil only if there is no such item; it throws where the keychain is locked or cannot be read.
    if let secret = try keychain.secret() {
        identity = try Identity(rawRepresentation: secret)
    } else {
        identity = .generate()
        try keychain.add(identity.rawRepresentation)
    }
    let sync = try SyncEngine(
        for: database, app: "org.example.books", tables: ["Author", "Book"], identity: identity)
    // Not shown.
    return sync
}

func syncInMemory(_ first: DatabaseQueue, _ second: DatabaseQueue) async throws {
    let time = Mutex<Int64>(1_800_000_000_000)
    let kitchen = try SyncEngine(
        for: first, app: "org.example.books", tables: ["Author", "Book"],
        displayName: "kitchen", now: { time.withLock { $0 } })
    let study = try SyncEngine(
        for: second, app: "org.example.books", tables: ["Author", "Book"],
        displayName: "study", now: { time.withLock { $0 } })
    let connector = SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show())
    try await connector.syncOnce()  // or connector.run() in a task, for live sync
    time.withLock { $0 += 60_000 }  // a minute later
}
