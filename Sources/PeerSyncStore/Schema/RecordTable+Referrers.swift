import GRDB
import PeerSyncModel

/// The rows that refer to records. Rows whose key has no name are left out.
extension RecordTable {
    private func search(by column: RecordColumn) -> String {
        "SELECT \(key.sql) FROM \(sqlName) WHERE \(column.sqlName) = ? ORDER BY \(key.sql)"
    }

    /// The names of the rows that refer to a record by one of this type's references, in the order of their keys.
    func referrers(_ db: Database, by field: String, to target: RecordName) throws -> [RecordName] {
        guard let column = column(field) else { return [] }
        var bindings = Bindings()
        bindings.append(column.stored(.reference(target)))
        var names: [RecordName] = []
        try bindings.read(db.statementToBind(search(by: column))) { row in
            if let name = key.name(row, from: 0) { names.append(name) }
            return true
        }
        return names
    }

    /// Whether ``referrers(_:by:to:)`` finds them by an index, and need not read the whole table.
    func isIndexed(_ db: Database, by field: String) throws -> Bool {
        guard let column = column(field) else { return true }
        let plan = try Row.fetchAll(
            db, sql: "EXPLAIN QUERY PLAN \(search(by: column))", arguments: [DatabaseValue.null])
        return !plan.contains { ($0["detail"] as String).hasPrefix("SCAN") }
    }

    /// The names of the rows that refer to any record by one of this type's references, by target, each list in the order of the keys.
    func referrersByTarget(_ db: Database, by field: String) throws -> [RecordName: [RecordName]] {
        guard let column = column(field) else { return [:] }
        let sql = """
            SELECT \(column.sqlName), \(key.sql) FROM \(sqlName) WHERE \(column.sqlName) IS NOT NULL ORDER BY \(key.sql)
            """
        var names: [RecordName: [RecordName]] = [:]
        try Bindings().read(db.statementToBind(sql)) { row in
            if case .reference(let target) = column.value(row, 0), let name = key.name(row, from: 1) {
                names[target, default: []].append(name)
            }
            return true
        }
        return names
    }
}
