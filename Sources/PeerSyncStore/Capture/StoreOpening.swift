import GRDB
import PeerSyncModel

/// Brings the tables of an app under sync when the store is opened: their triggers, and what happened to them while none
/// watched, as in a migration.
///
/// A migration may fill a column that it adds, make a table anew, rename a column, or drop one. The triggers see nothing
/// of it, or not all. So whenever the fields or the triggers of a table are not those of before, ``TableOpening`` holds
/// every row against what sync knows of it. All of this is one transaction.
struct StoreOpening {
    private let store: RecordStore
    private let db: Database
    /// The tables as they were when the store was opened last, as far as the database still has them.
    private let former: [String: FormerColumns]

    init(_ store: RecordStore, _ db: Database) throws {
        self.store = store
        self.db = db
        var keys = store.tables.keys
        let names = try String.fetchAll(
            db,
            sql: "SELECT substr(name, 10) FROM grdb_sync_syncState WHERE name GLOB 'captured:*' ORDER BY name"
        )
        for name in names where keys[name] == nil { keys[name] = try Self.key(of: name, db) }
        former = try Dictionary(
            uniqueKeysWithValues: names.map {
                let table = try Self.formerTable(of: $0, db)
                return ($0, try FormerColumns(db, ofType: $0, in: table, now: store.tables[$0], keys))
            })
    }

    /// The name that a type's table had when the store was opened last.
    private static func formerTable(of type: String, _ db: Database) throws -> String {
        try SyncState.text(db, .table(type)) ?? NameEncoding.name(of: type)
    }

    /// The key of a type's table; nil when the database has no table with such a key any more.
    private static func key(of type: String, _ db: Database) throws -> RecordKey? {
        let table = try formerTable(of: type, db)
        guard try db.hasTable(table) else { return nil }
        do {
            return try RecordKey(RecordType(table, [], formerName: NameEncoding.name(of: type)), db)
        } catch let error as RecordStoreError where error.code == .tableMismatch {
            return nil
        }
    }

    /// - Parameter areRulesNew: whether the store was last written under other rules between records.
    /// - Throws: `tableMismatch` when a name differs from its former one in nothing but capitals.
    func run(areRulesNew: Bool) throws {
        try checkCapitals()
        let version = try CapturedSchema.schemaVersion(db)
        let noted = try SyncState.integer(db, .schemaVersion)
        let library = try String.fetchOne(db, sql: "SELECT sqlite_version()")
        let isLibraryNew = try SyncState.text(db, .sqliteVersion) != library
        try takeTables(areRulesNew: areRulesNew)
        try StoreFuse.addSalt(db)
        // What refused a record may have changed with the schema, or with what SQLite can compute.
        if version != noted || isLibraryNew { try store.tryAllHeldAgain(db) }
        if isLibraryNew { try SyncState.set(db, .sqliteVersion, library) }
        // The triggers are part of the schema. Opening an up-to-date store writes nothing.
        let current = try CapturedSchema.schemaVersion(db)
        if current != noted { try SyncState.set(db, .schemaVersion, current) }
    }

    /// Refuses a table or a column that has nothing but other capitals than before. SQLite takes both names for one, so nobody expects
    /// another type or field; and a new installation cannot know the former name unless the app says it. A name that the app has given stands:
    /// an installation that is older than the hint has to open, too.
    private func checkCapitals() throws {
        for (name, columns) in former.sorted(by: { $0.key < $1.key }) {
            guard let table = store.tables[name] else {
                let type = store.tables.schema.types.first {
                    $0.name.isSameName(as: name) && $0.name == NameEncoding.identifier(of: $0.table)
                }
                if let type, former[type.name] == nil {
                    throw Self.otherCapitals("table \(type.table)", formerly: name, "formerName: ")
                }
                continue
            }
            for field in table.type.fields
            where !columns.names.contains(field.name)
                && field.name == NameEncoding.identifier(of: field.column)
            {
                let twin = columns.names.first { !table.hasColumn($0) && $0.isSameName(as: field.name) }
                guard let twin else { continue }
                throw Self.otherCapitals(
                    "column \(table.type.table).\(field.column)", formerly: twin,
                    "formerColumns: [\"\(field.column)\": ", "]")
            }
        }
    }

    private static func otherCapitals(
        _ place: String, formerly name: String, _ option: String, _ end: String = ""
    ) -> RecordStoreError {
        let former = NameEncoding.name(of: name)
        return .tableMismatch(
            "the \(place) was \(former) before, and capitals count in records: list it with \(option)\"\(former)\"\(end), so that "
                + "it stays the same for all versions of the app")
    }

    private func takeTables(areRulesNew: Bool) throws {
        let tables = store.tables.keeping(former)
        let openings = try tables.all.map {
            try TableOpening(store, $0, tables, former[$0.type.name], db)
        }
        let left = former.keys.filter { store.tables[$0] == nil }.sorted()
        var journaled: Set<RecordName> = []
        if !left.isEmpty || openings.contains(where: \.hasChanged) {
            journaled = try store.tables.journaledNames(db)
            // The journal is that of the old triggers, so it is folded under the fields of then.
            let before = RecordTables(store.tables, as: former.compactMapValues(\.table))
            _ = try store.folding(Zones.defaultID, in: before).fold(db)
        }
        var isLost = false
        for name in left { if try !leave(name, tables) { isLost = true } }
        for opening in openings {
            if try !opening.run(journaled: journaled, areRulesNew: areRulesNew) { isLost = true }
        }
        // After all tables: this compares all of them with what sync knows.
        if isLost { try store.upkeep.repair(db) }
        // Others still have the values that went with a column.
        if former.values.contains(where: \.areAnyGone) { try PeerTable.startOver(db) }
    }

    /// Takes the table of a type out of sync that has left the schema. The store keeps its records for other machines, and
    /// shows them again once the type is back.
    ///
    /// - Returns: false when the table is gone, and has taken the values of its rows along: the others still have them.
    private func leave(_ type: String, _ tables: RecordTables) throws -> Bool {
        try CaptureTriggers.remove(db, from: type)
        for state in [SyncState.captured(type), .fieldKinds(type), .contested(type), .table(type)] {
            try SyncState.remove(db, state)
        }
        try SyncState.set(db, .left(type), SyncState.integer(db, .lastSequence))
        guard former[type]?.table == nil else {
            try Self.relearn(type, store, tables, db)
            return true
        }
        try Self.forEachPart(of: type, db) { names in
            for name in names {
                let isInTable = try Bool.fetchOne(
                    db, sql: "SELECT status = 0 FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?",
                    arguments: [name.description])
                if isInTable == true { try RecordTraces.remove(db, of: name) }
            }
        }
        return false
    }

    /// Saves all records of a type anew. This keeps the values of former fields in the metadata, and shows what the store
    /// kept of the type, or of fields, before the schema knew them.
    static func relearn(_ type: String, _ store: RecordStore, _ tables: RecordTables, _ db: Database) throws {
        try forEachPart(of: type, db) { try store.save(db, $0, as: .saveAnew, in: tables) }
    }

    /// Passes the names of all records of a type that sync knows to `body`, in parts.
    static func forEachPart(of type: String, _ db: Database, _ body: ([RecordName]) throws -> Void) throws {
        var last = type + RecordName.separator
        while true {
            let names = try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT remoteRecordID FROM grdb_sync_remoteRecord
                        WHERE remoteRecordID > ? AND remoteRecordID < ? ORDER BY remoteRecordID LIMIT 5000
                        """), arguments: [last, RecordScan.end(of: type)])
            guard let end = names.last else { return }
            try body(names.map { try RecordName($0) })
            last = end
        }
    }
}
