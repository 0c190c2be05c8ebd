import GRDB
import SyncModel

/// A record in a list.
public struct RecordListEntry: Sendable, Hashable {
    public let name: String
    /// What a held record waits for: the name of a record that is not here, or a sentence.
    public let waitsFor: String?
    /// What its zone is called here.
    public let zone: String
}

extension RecordStore {
    /// The names of the records in the tables, of one type or of all, in the schema's order of types. Fold first.
    ///
    /// - Parameter zone: nil for all zones.
    public func recordNames(_ db: Database, type: String?, zone: Zone? = nil) throws -> [RecordListEntry] {
        let zones = try ZoneNames(db)
        return try schema.types.filter { type == nil || $0.name == type }.flatMap { type in
            try String.fetchAll(
                db,
                sql: """
                    SELECT recordName FROM \(type.name) WHERE \(zone?.contains("recordName") ?? "TRUE")
                    ORDER BY recordName
                    """
            ).map { RecordListEntry(name: $0, waitsFor: nil, zone: try zones.name(db, of: $0)) }
        }
    }

    /// The records that are kept aside, and what each waits for.
    ///
    /// - Parameter zone: nil for all zones.
    public func heldRecords(_ db: Database, type: String?, zone: Zone? = nil) throws -> [RecordListEntry] {
        let zones = try ZoneNames(db)
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM remoteRecord
                WHERE status = \(RecordStatus.held.rawValue) AND status <> 0
                    AND \(zone.map { "zone = \($0.row)" } ?? "TRUE")
                ORDER BY remoteRecordID
                """)
        let set = try WorkingSet(db, tables)
        var rules = try RuleApplication(set)
        return try names.compactMap { text in
            let name = try RecordName(text)
            guard type == nil || name.recordType == type else { return nil }
            return RecordListEntry(
                name: text, waitsFor: try reason(name, set, &rules), zone: try zones.name(db, of: text))
        }
    }

    private func reason(
        _ name: RecordName, _ set: WorkingSet, _ rules: inout RuleApplication
    ) throws -> String {
        guard schema.type(name.recordType) != nil else {
            return "a version that knows the type \(name.recordType)"
        }
        let missing = try rules.needed(by: name).first { try !set.hasRow($0) }
        return missing?.description ?? "fields that its table accepts"
    }
}
