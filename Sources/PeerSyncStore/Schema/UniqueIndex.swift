import GRDB
import PeerSyncModel

/// A UNIQUE index of a table, beside its key: only one row can have the values of a record in its fields.
struct UniqueIndex: Sendable {
    /// The columns of the index.
    let columns: [RecordColumn]
    private let collations: [String]
    private let rowSQL: String
    private let vacateSQL: String
    private let key: RecordKey

    var fieldNames: [String] { columns.map(\.field.name) }

    /// What decides which values are the same, to notice that it changes.
    var text: String { zip(fieldNames, collations).map { "\($0) \($1)" }.joined(separator: " ") }

    /// The indexes of a table that may refuse a record because of another one.
    ///
    /// - Parameters:
    ///   - indexes: all UNIQUE ones that the table declares.
    ///   - table: its ``RecordTable/sqlName``.
    ///   - columns: the synced ones.
    ///   - nullable: the columns that may be empty.
    ///   - conflictClause: see ``RecordTable/conflictClause``.
    static func all(
        _ indexes: [DeclaredIndex], of table: String, _ key: RecordKey, _ columns: [RecordColumn],
        nullable: Set<String>, conflictClause: String
    ) -> [UniqueIndex] {
        indexes.compactMap { index in
            let indexed = index.columns.compactMap { name in columns.first { $0.field.column == name } }
            guard indexed.count == index.columns.count else { return nil }
            return UniqueIndex(table, key, indexed, index, nullable, conflictClause)
        }
    }

    /// - Returns: nil when all columns belong to the key.
    private init?(
        _ table: String, _ key: RecordKey, _ columns: [RecordColumn], _ declared: DeclaredIndex,
        _ nullable: Set<String>, _ conflictClause: String
    ) {
        let free = columns.filter { $0.indexInKey == nil }
        guard let vacated = free.first(where: { nullable.contains($0.field.column) }) ?? free.first else {
            return nil
        }
        self.key = key
        self.columns = columns
        collations = declared.collations
        rowSQL = "SELECT \(key.sql) FROM \(table) WHERE \(declared.condition { _ in "?" })"
        let value =
            if nullable.contains(vacated.field.column) {
                "NULL"
            } else {
                switch vacated.affinity {
                case .text: "lower(hex(randomblob(16)))"
                case .blob: "randomblob(16)"
                case .integer, .real, .numeric: "random()"
                }
            }
        vacateSQL =
            "UPDATE \(conflictClause)\(table) SET \(vacated.sqlName) = \(value) WHERE \(key.condition)"
    }

    /// The rows with the values that a record is to show: at most one. Its name is nil if sync cannot name it.
    func rows(_ db: Database, like shown: RecordState) throws -> [RecordName?] {
        var bindings = Bindings()
        for column in columns {
            bindings.append(column.stored(shown.field(column.field.name)?.value ?? .null))
        }
        var names: [RecordName?] = []
        try bindings.read(db.statementToBind(rowSQL)) { row in
            names.append(key.name(row, from: 0))
            return true
        }
        return names
    }

    /// Gives a row another value in the index, until this transaction writes or removes it. No CHECK hinders that.
    ///
    /// - Returns: false when a trigger of the app refuses it.
    func vacate(_ db: Database, _ name: RecordName, in table: RecordTable) throws -> Bool {
        if try update(db, name, in: table) { return true }
        guard try Bool.fetchOne(db, sql: "PRAGMA ignore_check_constraints") == false else { return false }
        try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
        let isVacant = Result { try update(db, name, in: table) }
        try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        return try isVacant.get()
    }

    private func update(_ db: Database, _ name: RecordName, in table: RecordTable) throws -> Bool {
        var bindings = Bindings()
        table.appendKey(of: name, to: &bindings)
        return try db.catchingConstraint(in: table) { try bindings.execute(db.statementToBind(vacateSQL)) }
            && db.changesCount > 0
    }
}
