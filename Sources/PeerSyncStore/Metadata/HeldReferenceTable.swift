import GRDB
import PeerSyncModel

/// The table `grdb_sync_heldReference`: the references that no row shows, so that the store finds them from their
/// targets. The name of a type stands for the rows of that type, which may keep a held record from having one.
enum HeldReferenceTable {
    static let awaits = "SELECT 1 FROM grdb_sync_heldReference WHERE target = ?"

    /// Whether any record has a reference that no row shows.
    static func isAny(_ db: Database) throws -> Bool {
        try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_heldReference)")
    }

    /// The records with such a reference to a record, or the held ones of a type.
    static func referrers(_ db: Database, of target: String) throws -> [RecordName] {
        let statement = try db.statementToBind(
            "SELECT recordName FROM grdb_sync_heldReference WHERE target = ?")
        var bindings = Bindings()
        bindings.append(target)
        var names: [RecordName] = []
        try bindings.read(statement) { row in
            if let name = RecordTable.text(row, 0).flatMap({ try? RecordName($0) }) { names.append(name) }
            return true
        }
        return names
    }

    /// Returns the targets to keep for a record: those of references, and for a held record with rivals its type.
    ///
    /// - Parameters:
    ///   - emptied: the references that are empty in the row because their target is out of sight.
    ///   - table: the record's table, if there is one.
    static func targets(
        _ state: RecordState, _ status: RecordStatus, emptied: Set<String>, _ table: RecordTable?
    ) -> Set<String> {
        guard status != .inTable || !emptied.isEmpty else { return [] }
        let hasRivals = status == .held && table?.uniqueIndexes.isEmpty == false
        return Set(
            (hasRivals ? [state.name.recordType] : [])
                + state.fields.compactMap { field in
                    guard status != .inTable || emptied.contains(field.name),
                        case .reference(let target) = field.value
                    else { return nil }
                    return target.description
                })
    }

    static func insert(_ db: Database, _ name: RecordName, _ targets: Set<String>) throws {
        guard !targets.isEmpty else { return }
        let statement = try db.statementToBind(
            "INSERT OR IGNORE INTO grdb_sync_heldReference (recordName, target) VALUES (?, ?)")
        var bindings = Bindings()
        for target in targets {
            bindings.begin()
            bindings.append(name.description)
            bindings.append(target)
            try bindings.execute(statement)
        }
    }

    /// - Parameter name: any text: another program may have written a name that is none.
    static func remove(_ db: Database, of name: String) throws {
        try db.executeCached("DELETE FROM grdb_sync_heldReference WHERE recordName = ?", [name])
    }
}
