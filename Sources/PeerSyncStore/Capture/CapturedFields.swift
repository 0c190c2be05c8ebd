import GRDB
import PeerSyncModel
import PeerSyncRules

/// The columns that the capture triggers of each type cover, in the order of the bits in the journal's masks.
struct CapturedFields {
    private var byType: [String: [String]] = [:]
    private var bitsByType: [String: [Int?]] = [:]

    mutating func fields(of type: String, _ db: Database) throws -> [String] {
        if let known = byType[type] { return known }
        let fields = try SyncState.text(db, .captured(type))?.split(separator: " ").map(String.init) ?? []
        byType[type] = fields
        return fields
    }

    /// The bit of each column of a table, in the order of its fields; nil for one that the triggers do not cover.
    mutating func bits(of table: RecordTable, _ db: Database) throws -> [Int?] {
        if let known = bitsByType[table.type.name] { return known }
        let captured = try fields(of: table.type.name, db)
        let bits = table.fieldNames.map { captured.firstIndex(of: $0) }
        bitsByType[table.type.name] = bits
        return bits
    }

    /// Reads the values in the column `formerValues`.
    mutating func values(_ text: String?, of table: RecordTable, _ db: Database) throws -> [String:
        FieldValue]?
    {
        guard let text else { return nil }
        return try FormerValues.values(text, capturedFields: fields(of: table.type.name, db), in: table)
    }
}
