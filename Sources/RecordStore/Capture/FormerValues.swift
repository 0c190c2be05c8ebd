import Foundation
import GRDB
import SyncModel

/// The column `pendingChange.formerValues`: the values that a row had before a program deleted it, or before a reference of
/// it became empty. The triggers write it, because nobody else sees them.
///
/// It is a JSON array with an element for each captured column in order of name: null; `t` and the text; or another value as
/// an SQL literal. JSON by itself would not keep every number, and has no BLOBs.
enum FormerValues {
    /// SQL for the column, of the row `OLD`.
    static func sql(_ fieldNames: [String]) -> String {
        let values = fieldNames.map {
            "CASE typeof(OLD.\($0)) WHEN 'text' THEN 't' || OLD.\($0) WHEN 'null' THEN NULL ELSE quote(OLD.\($0)) END"
        }
        return "json_array(\(values.joined(separator: ", ")))"
    }

    private static let decoder = JSONDecoder()

    /// The values by field; nil when the text is none that a trigger has written.
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
        // By scalar: the text may begin with one that joins the t to one character.
        if text.utf8.first == UInt8(ascii: "t") {
            return RecordTable.understood(String(text.unicodeScalars.dropFirst()), kind)
        }
        if text.hasPrefix("X'"), text.hasSuffix("'") {
            return [UInt8](hexadecimal: text.dropFirst(2).dropLast()).map(FieldValue.blob)
        }
        return Int64(text).map(FieldValue.integer) ?? Double(text).map(FieldValue.real)
    }
}
