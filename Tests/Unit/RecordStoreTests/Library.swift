import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport

/// A small schema of the tests' own: authors, their books, and reviews that may outlive a book's shelf.
enum Library {
    static let sql = """
        CREATE TABLE Author (
            recordName TEXT NOT NULL PRIMARY KEY, name TEXT, born TEXT, modificationDate TEXT);
        CREATE TABLE Shelf (
            recordName TEXT NOT NULL PRIMARY KEY, label TEXT, modificationDate TEXT);
        CREATE TABLE Book (
            recordName TEXT NOT NULL PRIMARY KEY, title TEXT, pages INTEGER, modificationDate TEXT,
            author TEXT NOT NULL REFERENCES Author (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            shelf TEXT REFERENCES Shelf (recordName)
                ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Book_author ON Book (author);
        CREATE INDEX Book_shelf ON Book (shelf);
        CREATE TABLE Loan (
            recordName TEXT NOT NULL PRIMARY KEY, borrower TEXT, modificationDate TEXT,
            book TEXT NOT NULL REFERENCES Book (recordName)
                ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Loan_book ON Loan (book);
        """

    static let bookAndLoan = [
        RecordType(
            "Book",
            [
                FieldDefinition("author", .reference(to: "Author", rule: .cascade, isRequired: true)),
                FieldDefinition("shelf", .reference(to: "Shelf", rule: .nullify, isRequired: false)),
                FieldDefinition("title"), FieldDefinition("pages"),
            ]),
        RecordType(
            "Loan",
            [
                FieldDefinition("book", .reference(to: "Book", rule: .deny, isRequired: true)),
                FieldDefinition("borrower"),
            ]),
    ]

    static func schema() throws -> RecordSchema {
        try RecordSchema(
            [
                RecordType("Author", [FieldDefinition("name"), FieldDefinition("born", .date)]),
                RecordType("Shelf", [FieldDefinition("label")]),
            ] + bookAndLoan)
    }
}

/// One machine of the tests: a store in memory, known to the others by its key.
final class Machine: Sendable {
    let name: String
    let store: RecordStore
    private let database: DatabaseQueue

    init(
        _ name: String, number: UInt64, sql: String = Library.sql, schema: RecordSchema? = nil
    ) throws {
        self.name = name
        database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        store = try RecordStore(
            database, schema: schema ?? Library.schema(), replica: ReplicaID(rawValue: number))
    }

    /// A machine whose clock the test sets.
    init(_ name: String, number: UInt64, clock: SetClock) throws {
        self.name = name
        database = try DatabaseQueue()
        try database.write { try $0.execute(sql: Library.sql) }
        store = try RecordStore(
            database, schema: Library.schema(), replica: ReplicaID(rawValue: number),
            now: { clock.milliseconds })
    }

    /// Two machines that hold what SQL writes into the first.
    static func pair(_ clock: SetClock, holding sql: String) async throws -> (Machine, Machine) {
        let (a, b) = (
            try Machine("a", number: 1, clock: clock), try Machine("b", number: 2, clock: clock)
        )
        try a.shell(sql)
        try await a.sync(with: b)
        return (a, b)
    }

    var key: [UInt8] { Array(name.utf8) + [UInt8](repeating: 0, count: 32 - name.utf8.count) }

    /// Runs SQL as another program would: foreign keys off, and nothing of ours called.
    func shell(_ sql: String) throws {
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: sql)
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
    }

    func rows(_ sql: String) throws -> [String] {
        try database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "-" : String.fromDatabaseValue($0) ?? "\($0)" }
                    .joined(separator: "|")
            }
        }
    }

    func status() async throws -> StoreStatus {
        try await store.foldPendingChanges()
        return try await database.read { [store] in try store.status($0) }
    }

    func digest() async throws -> String { try await status().digest.hex }

    func state(_ name: String) async throws -> RecordState? {
        try await store.foldPendingChanges()
        return try await database.read { [store] in try store.state($0, of: RecordName(name)) }
    }

    /// Sends this machine's changes to another, as a session does; returns how many records went.
    @discardableResult
    func send(to other: Machine) async throws -> Int {
        let ours = PeerZone(
            store: store, peer: try await store.peers.add(key: other.key, name: other.name))
        let theirs = PeerZone(
            store: other.store, peer: try await other.store.peers.add(key: key, name: name))
        try await store.foldPendingChanges()
        let held = try await other.store.database.read { try theirs.summary($0).received }
        var place = ReadingPlace(try await store.database.read { try ours.begin($0, heldByPeer: held).start })
        // Who does not know the token that we hold of it any more may have lost what we had from it.
        let heldHere = try await store.database.read { try ours.summary($0).received }
        let isVoid = try await other.store.database.read { db in
            try theirs.begin(db, heldByPeer: heldHere).isHeldTokenVoid
        }
        var count = 0
        while true {
            let (batch, next) = try await store.database.read { [place] in
                try ours.nextBatch($0, after: place, includingEcho: isVoid)
            }
            count += batch.records.count
            _ = try await other.store.database.write { try theirs.apply($0, batch) }
            try await store.database.write { try ours.acknowledge($0, batch.token) }
            place = next
            if batch.isLast { return count }
        }
    }

    /// Exchanges in both directions until nothing moves any more.
    func sync(with other: Machine) async throws {
        for _ in 0..<10 {
            let moved = try await send(to: other) + other.send(to: self)
            if moved == 0 { return }
        }
        throw NeverQuiet()
    }

    struct NeverQuiet: Error {}
}
