import GRDB
import PeerSyncModel

/// Compares a table with the schema, before the store puts any trigger on it.
enum TableCheck {
    /// - Parameter hasAssets: whether the store has a directory of files, so that texts take the place of bytes in columns of files.
    static func check(
        _ db: Database, _ type: RecordType, in schema: RecordSchema, hasAssets: Bool
    ) throws {
        // SQLite takes other capitals, too; the triggers and the names of records do not.
        let kind = try String.fetchOne(
            db.cachedStatement(
                sql:
                    "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type <> 'view'"
            ),
            arguments: [type.table])
        guard let kind else {
            throw RecordStoreError.tableMismatch("the database has no table \(type.table)")
        }
        guard kind == "table", !type.table.hasPrefix(MetadataTables.prefix) else {
            throw RecordStoreError.tableMismatch(
                "\(type.table) is no table that can be synced: it is virtual, or one of the engine's")
        }
        let columns = Dictionary(
            uniqueKeysWithValues: try db.declaredColumns(of: type.table).map { ($0.name, $0) })
        let generated = try generatedColumns(db, type.table)
        let fields = type.fields.map(\.column)
        if let name = fields.first(where: generated.contains) {
            throw RecordStoreError.tableMismatch(
                "the column \(type.table).\(name) is generated, so nothing can be written there: leave it out of the fields"
            )
        }
        for name in fields where columns[name] == nil {
            throw RecordStoreError.tableMismatch("the table \(type.table) has no column \(name)")
        }
        if hasAssets { try checkFiles(db, type, columns) }
        let key = try RecordKey(type, db)
        try key.holdsNames ? checkNames(db, type, columns[RecordKey.nameColumn]) : checkKey(type, key)
        try checkCollations(db, type, key)
        try checkLocalColumns(db, type, columns, key)
        try checkUniqueIndexes(db, type, columns, key)
        if type.holdsDuplicates { try checkCircles(db, type, in: schema) }
        try checkReferences(db, type, columns, in: schema, key)
        let followers = try followers(db, of: type, in: schema)
        try checkOtherForeignKeys(db, type, in: schema, key, followers)
        try checkTriggers(db, type, key, followers)
    }

    /// Refuses a column of files that takes no text: the table would refuse every row with a file.
    private static func checkFiles(
        _ db: Database, _ type: RecordType, _ columns: [String: ColumnInfo]
    ) throws {
        guard try db.isStrict(type.table) else { return }
        for field in type.fields where field.kind == .asset {
            let declared = columns[field.column]?.type ?? ""
            guard !["TEXT", "ANY"].contains(declared.uppercased()) else { continue }
            throw RecordStoreError.tableMismatch(
                "the column \(type.table).\(field.column) holds the description of a file, a text, and STRICT lets no text into "
                    + "a column of \(declared): declare it ANY")
        }
    }

    /// Refuses a column `recordName` that cannot hold a text: the alias of a rowid, and a column of another type in a
    /// STRICT table.
    private static func checkNames(_ db: Database, _ type: RecordType, _ key: ColumnInfo?) throws {
        let declared = key?.type ?? ""
        let table = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?"),
            arguments: [type.table])
        let isRowID = declared.uppercased() == "INTEGER" && table?["wr"] != 1
        let isOfOtherType = table?["strict"] == 1 && !["TEXT", "ANY"].contains(declared.uppercased())
        guard !isRowID, !isOfOtherType else {
            throw RecordStoreError.tableMismatch(
                "the column \(type.table).recordName must be TEXT, not \(declared): it holds names such as "
                    + "“\(type.name)\(RecordName.separator)1”")
        }
    }

    /// Refuses a key that the machines would not choose alike.
    private static func checkKey(_ type: RecordType, _ key: RecordKey) throws {
        let isNumber = key.columns.map(\.kind) == [.integer]
        if isNumber, !type.areNumbersShared {
            throw RecordStoreError.tableMismatch(
                "the key \(type.table).\(key.columns[0].name) is an INTEGER, and two machines that are offline give the same number to different "
                    + "rows: use a UUID, or say that the numbers come from outside and mean the same on every machine "
                    + "(areNumbersShared)")
        }
    }

    /// Refuses a key in which SQLite takes different texts for the same: they would be two records with one row. Its index and
    /// its columns may have collations of their own.
    private static func checkCollations(_ db: Database, _ type: RecordType, _ key: RecordKey) throws {
        let indexed = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT part.name, part.coll
                    FROM pragma_index_list(?, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS part
                    WHERE list.origin = 'pk' AND part.key = 1 AND part.coll <> 'BINARY' COLLATE NOCASE
                    """), arguments: [type.table])
        let declared = key.columns.lazy.filter { $0.kind == .text }
            .map { ($0.name, db.collation(of: $0.name, in: type.table)) }
            .first { !$0.1.isSameName(as: "BINARY") }
        let found = indexed.map { ($0["name"] as String, $0["coll"] as String) } ?? declared
        guard let (column, collation) = found else { return }
        throw RecordStoreError.tableMismatch(
            "the key column \(type.table).\(column) is declared COLLATE \(collation), which "
                + "takes different texts for the same key: leave the collation out, and put it into your queries"
        )
    }

    /// Refuses a trigger of the app's that would end the transaction in which sync writes, again and again. One that fires only for
    /// what sync never does is none.
    ///
    /// - Parameter followers: see ``followers(_:of:in:)``.
    private static func checkTriggers(
        _ db: Database, _ type: RecordType, _ key: RecordKey, _ followers: [String]
    ) throws {
        let emptied = try String.fetchAll(
            db.cachedStatement(
                sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main') WHERE on_delete = 'SET NULL'"),
            arguments: [type.table])
        let written =
            key.columns.map(\.name) + type.fields.map(\.column) + emptied + [RecordTable.modificationDate]
        try checkTriggers(db, on: type.table) { event in
            // What follows UPDATE OF.
            let listed = event.dropFirst(2)
            return listed.isEmpty || listed.contains { token in written.contains { token.isName($0) } }
        }
        for follower in followers {
            try checkTriggers(db, on: follower) { $0.first?.isWord("DELETE") == true }
        }
    }

    /// - Parameter fires: whether anything that sync does fires a trigger, by the words from its event to ON.
    private static func checkTriggers(
        _ db: Database, on table: String, _ fires: (ArraySlice<SQLToken>) -> Bool
    ) throws {
        for (name, sql) in try db.triggers(onTable: table) {
            let tokens = SQLToken.tokens(of: Array(sql.utf8)) ?? []
            let event = tokens.drop { token in !["INSERT", "UPDATE", "DELETE"].contains { token.isWord($0) } }
                .prefix { !$0.isWord("ON") }
            let asksForPause = tokens.contains { $0.isName(CapturePause.table) }
            guard endsTransaction(tokens), !asksForPause, fires(event) else { continue }
            throw RecordStoreError.tableMismatch(
                "the trigger \(name) on \(table) says RAISE(ROLLBACK) or OR ROLLBACK, which would end the "
                    + "transaction in which sync writes, again and again: say ABORT there, or let it ask for \(CapturePause.table)"
            )
        }
    }

    /// Whether a trigger rolls back the transaction of what fires it.
    private static func endsTransaction(_ trigger: [SQLToken]) -> Bool {
        let raises = trigger.places(of: ["RAISE"]).contains { place in
            trigger[place...].dropFirst(2).first?.isWord("ROLLBACK") == true
        }
        return raises
            || ["INSERT", "UPDATE"].contains { !trigger.places(of: [$0, "OR", "ROLLBACK"]).isEmpty }
    }

    static func generatedColumns(_ db: Database, _ table: String) throws -> Set<String> {
        try String.fetchSet(
            db.cachedStatement(sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden IN (2, 3)"),
            arguments: [table])
    }

    /// Refuses a local column that needs a value: other machines send none for it, so the table would refuse every row
    /// of theirs.
    private static func checkLocalColumns(
        _ db: Database, _ type: RecordType, _ columns: [String: ColumnInfo], _ key: RecordKey
    ) throws {
        let synced = Set(key.columns.map(\.name) + type.fields.map(\.column))
        let generated = try generatedColumns(db, type.table)
        let local = columns.values.filter { !synced.contains($0.name) && !generated.contains($0.name) }
            .sorted { $0.name < $1.name }
        let foreign = try String.fetchSet(
            db.cachedStatement(sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main')"),
            arguments: [type.table])
        if let column = local.first(where: { foreign.contains($0.name) && hasDefault($0) }) {
            throw RecordStoreError.tableMismatch(
                "the column \(type.table).\(column.name) is a foreign key, has a DEFAULT and is not synced, so no record of "
                    + "another machine could be written without the row to which that leads: sync it, or let it be NULL by "
                    + "default")
        }
        let needy = local.first { $0.isNotNull && !hasDefault($0) && !RecordTable.isModificationDate($0) }
        guard let name = needy?.name else { return }
        let ways =
            foreign.contains(name) ? "sync it, or allow NULL" : "sync it, give it a DEFAULT, or allow NULL"
        throw RecordStoreError.tableMismatch(
            "the column \(type.table).\(name) is NOT NULL, has no DEFAULT and is not synced, so no record of another machine "
                + "could be written: \(ways)")
    }

    /// Whether a new row has a value in a column if nobody gives one.
    private static func hasDefault(_ column: ColumnInfo?) -> Bool {
        (column?.defaultValueSQL ?? "NULL").uppercased() != "NULL"
    }

    /// Refuses a UNIQUE column, because two machines that are offline may choose the same value; unless the app has said
    /// what happens then, and every machine comes to the same result.
    private static func checkUniqueIndexes(
        _ db: Database, _ type: RecordType, _ columns: [String: ColumnInfo], _ key: RecordKey
    ) throws {
        let keyColumns = Set(key.columns.map(\.name))
        let indexes = try db.declaredUniqueIndexes(of: type.table).filter { !$0.covers(key) }
        guard !type.holdsDuplicates else {
            guard !indexes.isEmpty else {
                throw RecordStoreError.invalidSchema(
                    "\(type.table) has no UNIQUE index beside its key, so no duplicates of it can be held: leave holdsDuplicates out"
                )
            }
            for index in indexes { try checkDuplicates(in: index, type, columns, keyColumns) }
            return
        }
        // What a column computes from synced ones collides as they do, and the engine fills `modificationDate`.
        let synced = try keyColumns.union(type.fields.map(\.column)).union(generatedColumns(db, type.table))
            .union(columns.values.filter(RecordTable.isModificationDate).map(\.name))
        let parts = indexes.flatMap { zip($0.columns, $0.collations) }
            .filter { column, _ in column.map(synced.contains) ?? true }
        let isCollated = { (part: (String?, String)) in !part.1.isSameName(as: "BINARY") }
        guard let part = parts.first(where: isCollated) ?? parts.first else { return }
        let collation = isCollated(part) ? " COLLATE \(part.1)" : ""
        throw RecordStoreError.invalidSchema(
            "\(type.table).\(part.0 ?? "(expression)") is UNIQUE\(collation), which cannot be synced as it is: two machines that are "
                + "offline may both choose the same value, and neither could then take the other's record: have the later "
                + "one held (holdsDuplicates), drop UNIQUE, make the column the key, or leave it out of sync")
    }

    /// Refuses an index of which not every machine knows who has which values.
    private static func checkDuplicates(
        in index: DeclaredIndex, _ type: RecordType, _ columns: [String: ColumnInfo],
        _ keyColumns: Set<String>
    ) throws {
        let names = index.columns.compactMap(\.self)
        let isOfFields =
            names.count == index.columns.count && names.allSatisfy(type.fields.map(\.column).contains)
        let isBuiltIn = index.collations.allSatisfy {
            ["BINARY", "NOCASE", "RTRIM"].contains($0.uppercased())
        }
        // An older version of the app sends no value, and the row then has one that its record does not tell.
        let isFilled = names.contains { hasDefault(columns[$0]) }
        guard isOfFields, !keyColumns.isSuperset(of: names), isBuiltIn, !isFilled, !index.isPartial else {
            throw RecordStoreError.invalidSchema(
                "duplicates in \(type.table) cannot be held: the UNIQUE index \(index.name) has a WHERE, an "
                    + "expression, a column that is not synced or has a DEFAULT, a collation of the app, or only columns of "
                    + "the key")
        }
    }

    /// Refuses duplicates in a type whose records need others of the type. If a record kept the one from its row that it
    /// needs, none of them could be shown for long, and machines would come to different results.
    private static func checkCircles(_ db: Database, _ type: RecordType, in schema: RecordSchema) throws {
        var waiting = [(type, first: Relationship?.none)]
        var visited: Set<String> = []
        while let (current, first) = waiting.popLast() {
            let unique =
                try current.holdsDuplicates
                ? db.declaredUniqueIndexes(of: current.table).flatMap(\.columns) : []
            for reference in current.references
            where reference.rule.needsTarget || unique.contains(reference.column) {
                let first = first ?? reference
                guard reference.target != type.name else {
                    throw RecordStoreError.invalidSchema(
                        "duplicates in \(type.table) cannot be held, because its records may need others of them, by "
                            + "\(first.column): it would not be certain which are shown; declare that reference ON DELETE SET "
                            + "NULL and leave it out of UNIQUE, or drop UNIQUE")
                }
                guard visited.insert(reference.target).inserted, let target = schema.type(reference.target)
                else { continue }
                waiting.append((target, first))
            }
        }
    }
}
