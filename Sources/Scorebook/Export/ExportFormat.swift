import Foundation
import PeerSync

/// The scorebook as a JSON file, format “scorebook export”, version 1.
///
/// ```json
/// {
///   "format": "scorebook export",
///   "version": 1,
///   "zone": "ScorebookData",
///   "exportedAt": "2024-03-05T19:30:00Z",
///   "digest": "3f9a…",
///   "count": 2,
///   "records": {
///     "SBGame": [
///       {"recordName": "SBGame|~|0192…", "fields": {"name": "Catan", "year": 1995, "highestWins": true},
///        "modificationDate": "2024-03-01T08:00:00.000Z", "stamp": "1709280000000.0@0123456789abcdef"}
///     ],
///     "SBMatch": [ … ]
///   }
/// }
/// ```
///
/// - `records` has the live records by type, sorted by record name, including held ones and those of unknown types.
///   `digest` and `count` are those of the records in the file.
/// - `fields` has every field that was ever written, with its value: text, dates (ISO 8601) and record names as
///   strings, numbers, `true` and `false` in the columns for them, `null`. If an import would read such a value as
///   another one, the value is an object with one key for its kind: `text`, `integer`, `real` (the 16 hexadecimal
///   digits of the IEEE 754 bits), `date` (milliseconds since 1970), `reference`, `base64` (bytes). A picture is such
///   an object with the key `asset`.
/// - `stamp` tells the time and the writer of the fields: milliseconds since 1970, counter, and replica id of a hybrid
///   logical clock. `stamps` has the stamps of the fields that differ from it. `deletion`, `revival` and `erasure` are
///   optional: the stamps of the record's last deletion, of the change that brought it back, and of its last deletion
///   for ever.
/// - `modificationDate` is for people. It follows from the stamps, and the import ignores it.
enum ExportFormat {
    static let name = "scorebook export"
    static let version = 1
}

extension Stamp {
    /// Parses the text that ``description`` writes.
    init?(text: String) {
        guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")),
            let at = text.utf8.firstIndex(of: UInt8(ascii: "@")), point < at,
            let milliseconds = UInt64(text[..<point]), milliseconds <= HybridTime.maximumMilliseconds,
            let counter = UInt16(text[text.utf8.index(after: point)..<at]),
            let replica = UInt64(text[text.utf8.index(after: at)...], radix: 16)
        else { return nil }
        let stamp = Stamp(
            time: HybridTime(rawValue: milliseconds << 16 | UInt64(counter)),
            replica: ReplicaID(rawValue: replica))
        // The parsers above also accept other forms, such as a plus sign. This comparison refuses them.
        guard stamp.description == text else { return nil }
        self = stamp
    }
}

/// The keys of tagged values. The key names the kind of the value.
enum ValueTagKey: String, CodingKey, CaseIterable {
    case text, integer, real, date, reference, asset, base64
}

extension FieldValue {
    /// Returns whether SQLite would make a text a number in a column for numbers.
    static func looksLikeNumber(_ text: String) -> Bool {
        Double(text.trimmed) != nil
    }

    /// Appends the value in the form of an export.
    func append(to json: inout JSONText, kind: ScorebookSchema.ColumnKind?) {
        if let plain = plain(kind) {
            switch plain {
            case .raw(let text): json.append(raw: text)
            case .quoted(let text): json.append(quoted: text)
            }
            return
        }
        json.append(raw: "{")
        switch self {
        case .null: break
        case .text(let text): Self.append(.text, quoted: text, to: &json)
        case .integer(let value): Self.append(.integer, raw: "\(value)", to: &json)
        case .real(let value): Self.append(.real, quoted: UUIDText.hex(value.bitPattern), to: &json)
        case .date(let milliseconds): Self.append(.date, raw: "\(milliseconds)", to: &json)
        case .reference(let name): Self.append(.reference, quoted: name.description, to: &json)
        case .asset(let asset):
            json.append(key: ValueTagKey.asset.rawValue)
            json.append(raw: asset.json)
        case .blob(let bytes): Self.append(.base64, quoted: Data(bytes).base64EncodedString(), to: &json)
        }
        json.append(raw: "}")
    }

    private enum Plain {
        case raw(String)
        case quoted(String)
    }

    /// Returns the plain form; nil if an import would read it as another value.
    private func plain(_ kind: ScorebookSchema.ColumnKind?) -> Plain? {
        switch (self, kind) {
        case (.null, _): .raw("null")
        case (.integer(let value), .boolean?) where value == 0 || value == 1:
            .raw(value == 1 ? "true" : "false")
        case (.integer(let value), .integer?), (.integer(let value), .number?),
            (.integer(let value), .boolean?),
            (.integer(let value), nil):
            .raw("\(value)")
        case (.real(let value), .real?) where value.isFinite && !(value == 0 && value.sign == .minus):
            .raw("\(value)")
        case (.real(let value), .number?), (.real(let value), .integer?), (.real(let value), nil):
            value.isFinite && value.rounded() != value ? .raw("\(value)") : nil
        case (.text(let text), .date?): ISO8601.milliseconds(canonical: text) == nil ? .quoted(text) : nil
        case (.text(let text), .reference?): (try? RecordName(text)) == nil ? .quoted(text) : nil
        case (.text(let text), .text?), (.text(let text), .asset?), (.text(let text), nil): .quoted(text)
        case (.text(let text), _): Self.looksLikeNumber(text) ? nil : .quoted(text)
        case (.date(let milliseconds), .date?):
            ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded).map(Plain.quoted)
        case (.reference(let name), .reference?): .quoted(name.description)
        default: nil
        }
    }

    private static func append(_ key: ValueTagKey, raw text: String, to json: inout JSONText) {
        json.append(key: key.rawValue)
        json.append(raw: text)
    }

    private static func append(_ key: ValueTagKey, quoted text: String, to json: inout JSONText) {
        json.append(key: key.rawValue)
        json.append(quoted: text)
    }
}
