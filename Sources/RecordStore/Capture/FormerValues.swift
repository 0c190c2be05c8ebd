import Foundation
import GRDB
import SyncModel

/// The column `pendingChange.formerValues`: the values of a row before a program deleted it, or before one of its
/// references became empty. Only the triggers see these values, so they write them down.
///
/// It is a JSON array with one element for each captured column in order of name: null; `t` followed by the text; or
/// any other value as an SQL literal. JSON itself would not keep every number, and has no BLOBs.
enum FormerValues {
    /// SQL for the column, from the row `OLD`.
    static func sql(_ fieldNames: [String]) -> String {
        let values = fieldNames.map {
            "CASE typeof(OLD.\($0)) WHEN 'text' THEN 't' || OLD.\($0) WHEN 'null' THEN NULL ELSE quote(OLD.\($0)) END"
        }
        return "json_array(\(values.joined(separator: ", ")))"
    }

    private static let decoder = JSONDecoder()

    /// Reads the values by field; nil when no trigger can have written the text.
    static func values(_ text: String, capturedFields: [String], in table: RecordTable) -> [String:
        FieldValue]?
    {
        guard let texts = try? decoder.decode([String?].self, from: Data(text.utf8)),
            texts.count == capturedFields.count
        else { return nil }
        var values: [String: FieldValue] = [:]
        for (field, text) in zip(capturedFields, texts) {
            guard let kind = table.column(field)?.kind else { continue }
            guard let value = value(text, kind) else { return nil }
            values[field] = value
        }
        return values
    }

    private static func value(_ text: String?, _ kind: FieldDefinition.Kind) -> FieldValue? {
        guard let text else { return .null }
        // Goes by scalars: the first scalar of the text may combine with the t into one character.
        if text.utf8.first == UInt8(ascii: "t") {
            return RecordTable.understood(String(text.unicodeScalars.dropFirst()), kind)
        }
        if text.hasPrefix("X'"), text.hasSuffix("'") {
            return [UInt8](hexadecimal: text.dropFirst(2).dropLast()).map(FieldValue.blob)
        }
        return Int64(text).map(FieldValue.integer) ?? Double(text).map(FieldValue.real)
    }
}
