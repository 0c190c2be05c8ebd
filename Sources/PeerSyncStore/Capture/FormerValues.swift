import Foundation
import GRDB
import PeerSyncModel

/// Values of a row that the triggers write into one text of the journal: those before a program deleted the row, or
/// before one of its references became empty, and the keys of more than one column. Only the triggers see these values. A
/// migration passes values in the same form to a function.
///
/// It is a JSON array with one element for each column: null; `t` followed by the text; or any other value as an SQL
/// literal. JSON itself would not keep every number, and has no BLOBs.
enum FormerValues {
    /// SQL for the text.
    ///
    /// - Parameter columns: SQL for each value.
    static func sql(_ columns: [String]) -> String {
        // `quote` does not give every REAL as many digits as it needs.
        let values = columns.map {
            """
            CASE typeof(\($0)) WHEN 'text' THEN 't' || \($0) WHEN 'null' THEN NULL \
            WHEN 'real' THEN printf('%!.20e', \($0)) ELSE quote(\($0)) END
            """
        }
        return "json_array(\(values.joined(separator: ", ")))"
    }

    private static let decoder = JSONDecoder()

    /// Reads the values; nil when no trigger can have written the text.
    static func values(_ text: String) -> [FieldValue]? {
        let read = JSONTexts.read(text) ?? (try? decoder.decode([String?].self, from: Data(text.utf8)))
        guard let texts = read else { return nil }
        let values = texts.compactMap(value)
        return values.count == texts.count ? values : nil
    }

    /// Reads the values by field; nil when no trigger can have written the text.
    static func values(_ text: String, capturedFields: [String], in table: RecordTable) -> [String:
        FieldValue]?
    {
        guard let values = values(text), values.count == capturedFields.count else { return nil }
        let fields = zip(capturedFields, values).compactMap { field, value in
            table.column(field).map { (field, $0.understood(value)) }
        }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    private static func value(_ text: String?) -> FieldValue? {
        guard let text else { return .null }
        // Goes by scalars: the first scalar of the text may combine with the t into one character.
        if text.utf8.first == UInt8(ascii: "t") { return .text(String(text.unicodeScalars.dropFirst())) }
        if text.hasPrefix("X'"), text.hasSuffix("'") {
            return [UInt8](hexadecimal: text.dropFirst(2).dropLast()).map(FieldValue.blob)
        }
        return Int64(text).map(FieldValue.integer) ?? Double(text).map(FieldValue.real)
    }
}
