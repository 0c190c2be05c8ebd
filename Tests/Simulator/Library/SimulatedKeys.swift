import GRDB
import PeerSyncModel

/// The keys of the simulated tables: one of each kind that the table of an app may have. Each type has a small pool of
/// keys, with a number for each.
enum SimulatedKeys {
    static let poolSize = 4

    /// Texts that a record name takes as they are, and others.
    private static let texts = ["0", "1", "é, 2 %", "%41"]

    private static func kinds(of type: String) -> [KeyEncoding.Kind] {
        switch type {
        case "Member": [.blob]
        case "Fee": [.integer]
        case "Seat": [.text, .blob]
        default: [.text]
        }
    }

    /// The columns of a table's key.
    static func columns(of type: String) -> [String] {
        switch type {
        case "Member", "Note": ["id"]
        case "Fee": ["receipt"]
        case "Seat": ["team", "member"]
        default: ["recordName"]
        }
    }

    /// The name of a record of the pool; a seat has none of its own.
    static func name(_ type: String, _ number: Int) -> String {
        let key: FieldValue =
            switch type {
            case "Member": .blob([UInt8](repeating: 0, count: 15) + [UInt8(number)])
            case "Note": .text(texts[number])
            case "Fee": .integer(Int64(1 - number))
            default: .text(String(number))
            }
        return type + RecordName.separator + KeyEncoding.suffix(of: [key])!
    }

    /// The name of the record with a key.
    ///
    /// - Parameter key: the values of ``columns(of:)``.
    static func name(_ type: String, key: [DatabaseValue]) throws -> RecordName {
        if columns(of: type) == ["recordName"] {
            return try RecordName(String.fromDatabaseValue(key[0]) ?? "")
        }
        let values = key.map { value -> FieldValue in
            switch value.storage {
            case .string(let text): .text(text)
            case .blob(let bytes): .blob(Array(bytes))
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .null: .null
            }
        }
        return try RecordName(recordType: type, suffix: KeyEncoding.suffix(of: values) ?? "")
    }

    /// SQL for the values of a record's key.
    static func values(of name: String) -> [String] {
        guard let name = try? RecordName(name), columns(of: name.recordType) != ["recordName"] else {
            return ["'\(name)'"]
        }
        return (KeyEncoding.values(of: name.suffix, kinds: kinds(of: name.recordType)) ?? []).map { value in
            switch value {
            case .blob(let bytes): "X'\(bytes.hexadecimal.uppercased())'"
            case .integer(let number): "\(number)"
            case .text(let text): "'\(text)'"
            default: "NULL"
            }
        }
    }

    /// SQL for a reference to a record, as `quote` writes it.
    static func reference(to name: String) -> String { values(of: name)[0] }

    /// SQL that is true for the row of a record.
    static func condition(_ name: String) -> String {
        let type = String(name.prefix { $0 != "|" })
        return zip(columns(of: type), values(of: name)).map { "\($0) = \($1)" }.joined(separator: " AND ")
    }
}
