import GRDB
import PeerSyncModel

extension TableCheck {
    /// A foreign key of any table of the database, or its part for one column.
    private struct ForeignKey {
        let table: String
        let column: String
        let action: String
        /// The column to which it leads; nil for the key.
        let target: String?
        let isNotNull: Bool
        let isGenerated: Bool

        /// Whether SQLite can empty it when the row goes to which it leads.
        var isEmptied: Bool { action == "SET NULL" && !isNotNull && !isGenerated }
    }

    /// The foreign keys that lead to a table.
    private static func foreignKeys(_ db: Database, to table: String) throws -> [ForeignKey] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT own.name, list."from", list.on_delete, list."to", part."notnull", part.hidden > 1
                    FROM main.sqlite_master AS own, pragma_foreign_key_list(own.name, 'main') AS list,
                        pragma_table_xinfo(own.name, 'main') AS part
                    WHERE own.type = 'table' AND list."table" = ? COLLATE NOCASE AND part.name = list."from" COLLATE NOCASE
                    """), arguments: [table]
        ).map {
            ForeignKey(
                table: $0[0], column: $0[1], action: $0[2], target: $0[3], isNotNull: $0[4],
                isGenerated: $0[5])
        }
    }

    /// Refuses foreign keys that sync does not know of. A row would come before its target, or its target would go first,
    /// and the transaction would fail at its end, again and again.
    ///
    /// - Parameter followers: see ``followers(_:of:in:)``.
    static func checkOtherForeignKeys(
        _ db: Database, _ type: RecordType, in schema: RecordSchema, _ key: RecordKey, _ followers: [String]
    ) throws {
        let references = Set(type.references.map(\.column))
        let synced = Set(type.fields.map(\.column) + key.columns.map(\.name))
        let column = try String.fetchAll(
            db.cachedStatement(sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main')"),
            arguments: [type.table]
        ).first { synced.contains($0) && !references.contains($0) }
        if let column {
            throw RecordStoreError.tableMismatch(
                "the column \(type.table).\(column) is a foreign key: list it among the fields as a reference"
            )
        }
        for foreignKey in try foreignKeys(db, to: type.table) {
            let other = schema.types.first { $0.table == foreignKey.table }
            let isReference = other?.references.contains { $0.column == foreignKey.column } == true
            guard !isReference else { continue }
            try checkTarget(foreignKey, in: type, key)
            try checkAction(of: foreignKey, to: type.table, in: schema)
        }
        for follower in followers {
            for foreignKey in try foreignKeys(db, to: follower) where !followers.contains(foreignKey.table) {
                let place = "\(follower), whose rows go with those of \(type.table),"
                try checkAction(of: foreignKey, to: place, in: schema)
            }
        }
    }

    /// The tables out of sync whose rows go along with those of a synced one, by ON DELETE CASCADE over any number of steps.
    static func followers(
        _ db: Database, of type: RecordType, in schema: RecordSchema
    ) throws -> [String] {
        var followers: [String] = []
        var waiting = [type.table]
        while let table = waiting.popLast() {
            for foreignKey in try foreignKeys(db, to: table) where foreignKey.action == "CASCADE" {
                let follower = foreignKey.table
                guard !followers.contains(follower), !schema.types.contains(where: { $0.table == follower })
                else { continue }
                followers.append(follower)
                waiting.append(follower)
            }
        }
        return followers
    }

    /// Refuses a foreign key that sync does not know of, and that leads to a column in which sync writes.
    private static func checkTarget(_ foreignKey: ForeignKey, in type: RecordType, _ key: RecordKey) throws {
        guard let target = foreignKey.target,
            !key.columns.contains(where: { $0.name.isSameName(as: target) }),
            let written = type.fields.map(\.column).first(where: { $0.isSameName(as: target) })
        else { return }
        throw RecordStoreError.tableMismatch(
            "the column \(foreignKey.table).\(foreignKey.column) refers to \(type.table).\(written) and is not synced, so it "
                + "would keep others from changing that: let it refer to the key of \(type.table)")
    }

    /// Refuses a foreign key that sync does not know of, and that keeps rows from going, or takes rows of synced tables along.
    private static func checkAction(
        of foreignKey: ForeignKey, to place: String, in schema: RecordSchema
    ) throws {
        let isSynced = schema.types.contains { $0.table == foreignKey.table }
        // A row of a synced table must not go with a column that sync does not know.
        let isTakenAlong = foreignKey.action == "CASCADE" && !isSynced
        guard !foreignKey.isEmptied, !isTakenAlong else { return }
        let empties = foreignKey.isNotNull ? "without NOT NULL and ON DELETE SET NULL" : "ON DELETE SET NULL"
        let ways =
            switch (isSynced, foreignKey.isGenerated) {
            case (true, false): "declare it \(empties), or sync the column"
            case (false, false): "declare it ON DELETE CASCADE, or \(empties)"
            // SQLite writes nothing there.
            case (true, true): "drop the foreign key"
            case (false, true): "declare it ON DELETE CASCADE, or drop the foreign key"
            }
        let kind = foreignKey.isGenerated ? "is generated" : "is not synced"
        throw RecordStoreError.tableMismatch(
            "the column \(foreignKey.table).\(foreignKey.column) refers to \(place) and \(kind), so it would keep others from "
                + "deleting there, or take rows along: \(ways)")
    }

    /// Compares the declared foreign keys with the references of the schema.
    static func checkReferences(
        _ db: Database, _ type: RecordType, _ columns: [String: ColumnInfo], in schema: RecordSchema,
        _ key: RecordKey
    ) throws {
        let foreignKeys = try Row.fetchAll(
            db.cachedStatement(
                sql:
                    "SELECT id, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list(?, 'main')"
            ),
            arguments: [type.table])
        for relationship in type.references {
            let column = "\(type.table).\(relationship.column)"
            guard let targetTable = schema.type(relationship.target)?.table else { continue }
            let isInKey = key.columns.contains { $0.name == relationship.column }
            guard isInKey || columns[relationship.column]?.isNotNull == relationship.isRequired else {
                let needed = relationship.isRequired ? "NOT NULL" : "without NOT NULL"
                throw RecordStoreError.tableMismatch(
                    "the column \(column) must be \(needed), as the schema says")
            }
            guard !isInKey || relationship.isRequired else {
                throw RecordStoreError.invalidSchema(
                    "\(column) belongs to the key, so the reference is required")
            }
            let target = try RecordKey.columnNames(db, targetTable)
            guard target.count == 1 else {
                throw RecordStoreError.tableMismatch(
                    "\(column) refers to \(targetTable), whose key has \(target.count) columns: give that table a "
                        + "key of one column")
            }
            try checkAffinity(
                db, of: columns[relationship.column]?.type ?? "", type, relationship.column, to: target[0],
                of: targetTable)
            let declared = foreignKeys.first { $0["from"] == relationship.column }
            let isAlone = foreignKeys.count { $0["id"] == declared?["id"] as Int64? } == 1
            guard let declared, isAlone, (declared["table"] as String).isSameName(as: targetTable),
                (declared["to"] as String?)?.isSameName(as: target[0]) != false,
                declared["on_delete"] == relationship.rule.foreignKeyAction
            else {
                throw RecordStoreError.tableMismatch(
                    "the column \(column) must be declared REFERENCES \(targetTable) (\(target[0])) "
                        + "ON DELETE \(relationship.rule.foreignKeyAction)")
            }
        }
    }

    /// Refuses a reference whose values need not be those of the key. A column without a type has texts as a key of texts has
    /// them, but SQLite takes the text 1 there for the number 1 of a key, and a record with that text would have no target.
    ///
    /// - Parameters:
    ///   - declaredType: that of the column.
    ///   - key: the key of the table to which it leads.
    private static func checkAffinity(
        _ db: Database, of declaredType: String, _ type: RecordType, _ column: String, to key: String,
        of targetTable: String
    ) throws {
        let keyType = try db.declaredColumns(of: targetTable).first { $0.name == key }?.type ?? ""
        let (own, target) = (
            ColumnAffinity(declaredType: declaredType), ColumnAffinity(declaredType: keyType)
        )
        guard own != target, key != RecordKey.nameColumn else { return }
        let isAccepted = try own == .blob && (target == .text || hasSynced(db, type))
        guard !isAccepted else { return }
        let declaration = declaredType.isEmpty ? "without a type" : declaredType
        throw RecordStoreError.tableMismatch(
            "the column \(type.table).\(column) is declared \(declaration), and the key to which it refers \(keyType): "
                + "SQLite would convert its values, so declare both alike")
    }

    /// Whether the store has synced a table already, which then goes on. Triggers tell it where the table got another name; they go
    /// where it was made anew.
    private static func hasSynced(_ db: Database, _ type: RecordType) throws -> Bool {
        guard try CaptureTriggers.names(db, onTable: type.table).isEmpty else { return true }
        return try db.hasTable("grdb_sync_syncState") && SyncState.text(db, .captured(type.name)) != nil
    }
}
