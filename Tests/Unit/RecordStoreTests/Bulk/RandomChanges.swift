import GRDB
import PeerSyncModel
import TestSupport

@testable import PeerSyncStore

/// A store that random changes reach: from programs, from two peers, in two zones, with files, UNIQUE columns, deletions of all
/// kinds, and a fuse. A seed determines all of them.
final class RandomChanges {
    static let sql = """
        CREATE TABLE Author (
            recordName TEXT NOT NULL PRIMARY KEY, name TEXT, born TEXT, portrait TEXT, modificationDate TEXT);
        CREATE TABLE Shelf (recordName TEXT NOT NULL PRIMARY KEY, label TEXT UNIQUE, modificationDate TEXT);
        CREATE TABLE Book (
            recordName TEXT NOT NULL PRIMARY KEY, title TEXT CHECK (title <> 'Bad'), pages INTEGER, modificationDate TEXT,
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

    let store: RecordStore
    private let takesShortWays: Bool
    private let database: DatabaseQueue
    private let clock = SetClock(1_700_000_000_000)
    private var random: SeededGenerator
    private var peers: [Peer] = []
    private var zones: [ZoneTarget] = [.default]
    /// The texts of errors, in order.
    private var errors: [String] = []

    init(seed: UInt64, takesShortWays: Bool) async throws {
        self.takesShortWays = takesShortWays
        random = SeededGenerator(seed: seed)
        database = try DatabaseQueue()
        try await database.write { try $0.execute(sql: Self.sql) }
        store = try RecordStore(
            database, schema: Self.schema(), replica: ReplicaID(rawValue: 1),
            now: { [clock] in clock.milliseconds })
        zones.append(.one(try await store.zones.create("attic")))
        for number in 0..<2 {
            let key = [UInt8](repeating: UInt8(number + 3), count: 32)
            peers.append(try await store.peers.add(key: key, name: "peer \(number)"))
            _ = try await store.zones.grant(.write, to: "peer \(number)", in: "attic")
        }
        let setting = random.oneIn(2) ? FuseSetting(share: 0.1, records: random.oneIn(2) ? 4 : 1000) : nil
        try await database.write { [store] in try store.fuse.set($0, setting) }
    }

    private static func schema() throws -> RecordSchema {
        try RecordSchema(
            [
                RecordType(
                    "Author",
                    [
                        FieldDefinition("name"), FieldDefinition("born", .date),
                        FieldDefinition("portrait", .asset),
                    ]),
                RecordType("Shelf", [FieldDefinition("label")], holdsDuplicates: true),
            ] + Library.bookAndLoan)
    }

    /// Everything that the database holds, and the errors so far; without what is random: the number of the run, and a secret.
    func contents() throws -> [String] {
        try database.read { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                        AND name <> 'grdb_sync_storeGeneration' ORDER BY name
                    """)
            return try tables.flatMap { table in
                try Row.fetchAll(
                    db,
                    sql: "SELECT * FROM \(table)"
                        + (table == "grdb_sync_syncState" ? " WHERE name <> 'fuseSalt'" : "")
                ).map { row in
                    "\(table): " + row.databaseValues.map(Self.text).joined(separator: "|")
                }.sorted()
            } + errors
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        if case .blob(let bytes) = value.storage { [UInt8](bytes).hexadecimal } else { value.description }
    }

    // MARK: Steps

    /// Does the next thing that the seed determines.
    func step() throws {
        clock.milliseconds += Int64.random(in: 1...2000, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5: try writeHere()
        case 5..<10: try receive()
        case 10:
            let name = name(of: type())
            let isRestored = random.oneIn(2)
            try attempt { [store] db in
                _ = try isRestored ? store.restore(db, name).count : store.deleteForever(db, name).count
            }
        default:
            let isAllowed = random.oneIn(2)
            try attempt { [store] db in
                _ = try store.fold(db)
                for alarm in try store.fuse.alarms(db).prefix(1) {
                    if isAllowed {
                        try store.fuse.allow(db, alarm)
                    } else {
                        _ = try store.fuse.refuse(db, alarm)
                    }
                }
            }
        }
    }

    private func attempt(_ body: (Database) throws -> Void) throws {
        do {
            try database.writeWithoutTransaction { db in
                try db.inTransaction {
                    try ShortWays.$areTaken.withValue(takesShortWays) { try body(db) }
                    return .commit
                }
            }
        } catch { errors.append("\(error)") }
    }

    /// Lets a program write, and the store take it in.
    private func writeHere() throws {
        let statements = (0..<Int.random(in: 1...10, using: &random)).map { _ in statement() }
        let zone = zones.randomElement(using: &random)!
        try attempt { db in
            for sql in statements { try db.execute(sql: sql) }
        }
        try attempt { [store] in _ = try store.fold($0, newIn: zone) }
    }

    private func statement() -> String {
        let type = type()
        let name = name(of: type)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "DELETE FROM \(type) WHERE recordName = '\(name)'"
        case 1:
            let fields = fields(of: type)
            let names = fields.map(\.name).joined(separator: ", ")
            let values = fields.map { literal($0.value) }.joined(separator: ", ")
            return "INSERT OR IGNORE INTO \(type) (recordName, \(names)) VALUES ('\(name)', \(values))"
        default:
            let changed = fields(of: type).filter { _ in random.oneIn(2) }
            guard !changed.isEmpty else { return "UPDATE \(type) SET modificationDate = ''" }
            let sets = changed.map { "\($0.name) = \(literal($0.value))" }.joined(separator: ", ")
            return "UPDATE OR IGNORE \(type) SET \(sets) WHERE recordName = '\(name)'"
        }
    }

    private func literal(_ value: FieldValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .text(let text): "'\(text)'"
        default: "'\(value.columnText ?? "")'"
        }
    }

    /// Merges a batch of a peer.
    private func receive() throws {
        let states = (0..<Int.random(in: 1...12, using: &random)).map { _ in state() }
        let peerZone = PeerZone(
            store: store, zone: zones.randomElement(using: &random)!,
            peer: peers.randomElement(using: &random)!)
        let batch = ChangeBatch(records: states, token: .start, isLast: true, isLoose: random.oneIn(5))
        let manyRecords = random.oneIn(3) ? 1 : Int.max
        try attempt { _ = try peerZone.apply($0, batch, manyRecords: manyRecords) }
    }

    // MARK: Records

    private func type() -> String {
        ["Author", "Book", "Book", "Loan", "Shelf"].randomElement(using: &random)!
    }

    private func name(of type: String) -> RecordName {
        try! RecordName("\(type)|~|\(Int.random(in: 1...6, using: &random))")
    }

    /// A state as a peer of this or another version may have it: some fields, all, or ones that nobody here knows.
    private func state() -> RecordState {
        let type = type()
        let stamp = stamp()
        var fields = fields(of: type).map { field in
            RecordField(name: field.name, value: field.value, stamp: random.oneIn(4) ? self.stamp() : stamp)
        }
        if random.oneIn(6) { fields.removeAll { _ in random.oneIn(3) } }
        if random.oneIn(8) { fields.append(RecordField(name: "unknown", value: .text("U"), stamp: stamp)) }
        let state = RecordState(
            name: name(of: type), fields: fields, deletion: random.oneIn(4) ? self.stamp() : nil,
            revival: random.oneIn(12) ? self.stamp() : nil, erasure: random.oneIn(30) ? self.stamp() : nil)
        return state.transferred
    }

    /// A stamp of some of the last steps. There are few, so that some are equal.
    private func stamp() -> Stamp {
        let age = Int64.random(in: 0...8, using: &random) * 700
        return Stamp(
            time: HybridTime(milliseconds: (clock.milliseconds - age) / 700 * 700),
            replica: ReplicaID(rawValue: random.oneIn(2) ? 7 : 1))
    }

    private func fields(of type: String) -> [(name: String, value: FieldValue)] {
        let number = Int.random(in: 0...3, using: &random)
        switch type {
        case "Author":
            return [
                ("born", .date(Int64(number) * 1000)), ("name", .text("Name \(number)")),
                ("portrait", random.oneIn(3) ? .null : .asset(Asset(describing: [UInt8(number)]))),
            ]
        case "Shelf": return [("label", .text("Label \(number)"))]
        case "Loan": return [("book", .reference(name(of: "Book"))), ("borrower", .text("Anne \(number)"))]
        default:
            return [
                ("author", .reference(name(of: "Author"))),
                // A text of digits comes back as a number.
                ("pages", random.oneIn(8) ? .text("\(number)") : .integer(Int64(number))),
                ("shelf", random.oneIn(2) ? .null : .reference(name(of: "Shelf"))),
                ("title", .text(random.oneIn(12) ? "Bad" : "Title \(number)")),
            ]
        }
    }
}
