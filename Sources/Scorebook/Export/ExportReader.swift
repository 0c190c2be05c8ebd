import Foundation
import PeerSync

/// The content of a file that ``ExportWriter`` wrote.
struct ScorebookExport: Decodable {
    let zone: ZoneName
    let states: [RecordState]

    private enum CodingKeys: String, CodingKey { case format, version, zone, records }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(String.self, forKey: .format)
        guard format == ExportFormat.name else {
            throw ImportFileError.at(
                "format", "is “\(Display.printable(format.prefix(60)))”; it should be “\(ExportFormat.name)”")
        }
        let version = try container.wholeNumber(forKey: .version)
        guard version == ExportFormat.version else {
            throw ImportFileError.at(
                "version",
                "is \(version); this program reads version \(ExportFormat.version), "
                    + "install a newer one for later versions")
        }
        let zoneText = try container.decode(String.self, forKey: .zone)
        guard let zone = ZoneName(zoneText) else {
            throw ImportFileError.at("zone", "is no name of a zone: 1 to 255 characters of ASCII")
        }
        self.zone = zone
        let records = try container.decode([String: [ExportedRecord]].self, forKey: .records)
        for (type, list) in records {
            guard let index = list.firstIndex(where: { $0.state.name.recordType != type }) else { continue }
            throw ImportFileError.at(
                "records.\(type)[\(index)].recordName", "is \(list[index].state.name), which is no \(type)")
        }
        states = records.values.joined().map(\.state).sorted { $0.name < $1.name }
    }

    /// Refuses stamps that lie further ahead of the clock than paired machines would accept.
    func checkStamps(now: Int64) throws {
        for state in states {
            let newest = state.newestStamp
            guard let newest, newest.time.milliseconds > now + BGStatsMapping.allowedSkew else { continue }
            let written =
                ISO8601.text(milliseconds: newest.time.milliseconds, fraction: .ifNeeded) ?? "\(newest)"
            let clock = ISO8601.text(milliseconds: now, fraction: .ifNeeded) ?? "\(now)"
            throw ScorebookError(
                .invalidFile,
                "\(state.name) was written at \(written), but the clock of this machine shows \(clock); "
                    + "set the clock right and import again", place: state.name.description)
        }
    }
}

/// One record of an export.
private struct ExportedRecord: Decodable {
    let state: RecordState

    private enum CodingKeys: String, CodingKey {
        case recordName, fields, stamp, stamps, deletion, revival, erasure
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let place = { (key: CodingKeys) in ImportFileError.path(decoder.codingPath + [key]) }
        let name: RecordName
        do {
            name = try RecordName(try container.decode(String.self, forKey: .recordName))
        } catch let error as RecordNameError {
            throw ImportFileError.at(place(.recordName), "is not valid: \(error.explanation)")
        }
        func stamp(_ text: String?, _ key: CodingKeys) throws -> Stamp? {
            guard let text else { return nil }
            guard let stamp = Stamp(text: text) else {
                throw ImportFileError.at(
                    place(key),
                    "is “\(Display.printable(text.prefix(60)))”; "
                        + "a stamp looks like 1709280000000.0@0123456789abcdef")
            }
            return stamp
        }
        let base = try stamp(container.decode(String.self, forKey: .stamp), .stamp)!
        let exceptions = try container.decodeIfPresent([String: String].self, forKey: .stamps) ?? [:]
        let values = try container.nestedContainer(keyedBy: FieldKey.self, forKey: .fields)
        var fields: [RecordField] = []
        for key in values.allKeys {
            try key.check(values)
            let value = try FieldValue(
                values, key, kind: ScorebookSchema.columnKind(name.recordType, key.stringValue))
            let exception = try stamp(exceptions[key.stringValue], .stamps)
            fields.append(RecordField(name: key.stringValue, value: value, stamp: exception ?? base))
        }
        guard !fields.isEmpty else { throw ImportFileError.at(place(.fields), "has no field") }
        state = RecordState(
            name: name, fields: fields,
            deletion: try stamp(container.decodeIfPresent(String.self, forKey: .deletion), .deletion),
            revival: try stamp(container.decodeIfPresent(String.self, forKey: .revival), .revival),
            erasure: try stamp(container.decodeIfPresent(String.self, forKey: .erasure), .erasure))
    }
}

/// The name of a field.
private struct FieldKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    /// Refuses a name that no field can have.
    func check(_ container: KeyedDecodingContainer<FieldKey>) throws {
        guard RecordField.canBeNamed(stringValue) else {
            throw ImportFileError.at(
                ImportFileError.path(container.codingPath),
                "has “\(Display.printable(stringValue.prefix(60)))”, which cannot name a field")
        }
    }
}

extension FieldValue {
    /// Reads a value, plain or tagged.
    fileprivate init(
        _ container: KeyedDecodingContainer<FieldKey>, _ key: FieldKey, kind: ScorebookSchema.ColumnKind?
    ) throws {
        let refuse = { (what: String) -> ScorebookError in
            ImportFileError.at(ImportFileError.path(container.codingPath + [key]), what)
        }
        // The usual kind of the column comes first: each failed attempt costs more than the rest of reading.
        if try container.decodeNil(forKey: key) {
            self = .null
        } else if kind == .boolean, let value = try? container.decode(Bool.self, forKey: key) {
            self = .integer(value ? 1 : 0)
        } else if kind.map({ !$0.isForNumbers }) ?? true,
            let text = try? container.decode(String.self, forKey: key)
        {
            self = try Self.understood(text, kind, refuse)
        } else if let value = try? container.decode(Int64.self, forKey: key) {
            self = try Self.understood(value, kind, refuse)
        } else if let value = try? container.decode(Double.self, forKey: key) {
            guard kind.map(\.isForNumbers) ?? true || kind == .asset else { throw refuse("should be a text") }
            self = .real(value)
        } else if let value = try? container.decode(Bool.self, forKey: key) {
            self = try Self.understood(value ? 1 : 0, kind, refuse)
        } else if let text = try? container.decode(String.self, forKey: key) {
            self = try Self.understood(text, kind, refuse)
        } else if let object = try? container.nestedContainer(keyedBy: ValueTagKey.self, forKey: key) {
            self = try Self.tagged(object, refuse)
        } else {
            throw refuse("should be a \(kind?.isForNumbers ?? false ? "number" : "text")")
        }
    }

    /// Reads a plain text as its column would. Refuses a text that the column would turn into a number.
    private static func understood(
        _ text: String, _ kind: ScorebookSchema.ColumnKind?, _ refuse: (String) -> ScorebookError
    ) throws -> FieldValue {
        switch kind {
        case .date: return ISO8601.milliseconds(canonical: text).map(FieldValue.date) ?? .text(text)
        case .reference: return (try? RecordName(text)).map(FieldValue.reference) ?? .text(text)
        case let kind? where kind.isForNumbers && looksLikeNumber(text):
            throw refuse("is the text “\(Display.printable(text.prefix(60)))”; it should be a number")
        default: return .text(text)
        }
    }

    private static func understood(
        _ value: Int64, _ kind: ScorebookSchema.ColumnKind?, _ refuse: (String) -> ScorebookError
    ) throws -> FieldValue {
        switch kind {
        case .real: return .real(Double(value))
        case .text, .date, .reference: throw refuse("should be a text")
        default: return .integer(value)
        }
    }

    private static func tagged(
        _ container: KeyedDecodingContainer<ValueTagKey>, _ refuse: (String) -> ScorebookError
    ) throws -> FieldValue {
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            let keys = ValueTagKey.allCases.map(\.rawValue).joined(separator: ", ")
            throw refuse("should be a value, or an object with one of the keys \(keys)")
        }
        switch key {
        case .text: return .text(try container.decode(String.self, forKey: key))
        case .integer: return .integer(try container.wholeNumber(forKey: key))
        case .date:
            let value = FieldValue.date(try container.wholeNumber(forKey: key))
            guard value.canBeSent else { throw refuse("has a date before the year 0 or after 9999") }
            return value
        case .real:
            guard let bits = UInt64(try container.decode(String.self, forKey: key), radix: 16) else {
                throw refuse("has a real number that is not 16 hexadecimal digits")
            }
            let value = FieldValue.real(Double(bitPattern: bits))
            guard value.canBeSent else { throw refuse("has a real number that is none") }
            return value
        case .reference:
            do {
                return .reference(try RecordName(try container.decode(String.self, forKey: key)))
            } catch let error as RecordNameError {
                throw refuse("is not valid: \(error.explanation)")
            }
        case .asset:
            let asset = try container.nestedContainer(keyedBy: AssetKey.self, forKey: key)
            guard let hash = AssetHash(hex: try asset.decode(String.self, forKey: .hash)),
                let asset = Asset(
                    hash: hash, size: try asset.wholeNumber(forKey: .size),
                    mediaType: try asset.decode(String.self, forKey: .type),
                    name: try asset.decode(String.self, forKey: .name))
            else {
                throw refuse(
                    "is not valid: a picture has a hash of 64 digits, a size, a media type and a name")
            }
            return .asset(asset)
        case .base64:
            guard let data = Data(base64Encoded: try container.decode(String.self, forKey: key)) else {
                throw refuse("is not valid base64")
            }
            return .blob(Array(data))
        }
    }
}

/// The keys of an asset, the same as in ``Asset/json``.
private enum AssetKey: String, CodingKey {
    case hash, name, size, type
}

extension KeyedDecodingContainer {
    /// Decodes a whole number. If it is too large or not whole, the error names its place; Foundation's decoder does
    /// not.
    fileprivate func wholeNumber(forKey key: Key) throws -> Int64 {
        do {
            return try decode(Int64.self, forKey: key)
        } catch let error as DecodingError where !error.isCorruption {
            throw error
        } catch {
            throw ImportFileError.at(ImportFileError.path(codingPath + [key]), "should be a whole number")
        }
    }
}

extension DecodingError {
    fileprivate var isCorruption: Bool {
        if case .dataCorrupted = self { true } else { false }
    }
}

extension ScorebookSchema.ColumnKind {
    /// Whether SQLite turns texts that look like numbers into numbers in this kind of column.
    var isForNumbers: Bool {
        switch self {
        case .integer, .number, .real, .boolean: true
        case .text, .date, .asset, .reference: false
        }
    }
}
