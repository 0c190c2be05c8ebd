import GRDB
import PeerSync

/// The contents of an export.
public struct ExportContents: Sendable {
    /// The number of records.
    public internal(set) var records = 0
    /// The files to which they refer. The export does not contain these.
    var pictures = PictureUses()
}

/// A writer of the scorebook as ``ExportFormat`` describes it, piece by piece.
struct ExportWriter {
    /// The approximate size of a piece, in bytes.
    private static let pieceSize = 1 << 16

    let records: RecordStore
    /// The zone to export.
    let zone: ZoneTarget
    /// The time of the export, in milliseconds since 1970.
    let now: Int64

    /// Passes the pieces of the file to `sink`, in order.
    ///
    /// - Parameter progress: called now and then with the number of records that are written, and the number of all.
    func write(
        _ db: Database, progress: (Int, Int) -> Void = { _, _ in }, to sink: ([UInt8]) throws -> Void
    ) throws -> ExportContents {
        var json = JSONText()
        let count = try appendHead(db, to: &json)
        var contents = ExportContents()
        var type: String?
        try records.listing.forEachLiveState(db, zone: zone) { state in
            let isFirst = state.name.recordType != type
            if isFirst {
                json.append(raw: type == nil ? "\n    " : "\n    ],\n    ")
                json.append(key: state.name.recordType)
                json.append(raw: "[")
                type = state.name.recordType
            }
            json.append(raw: isFirst ? "\n      " : ",\n      ")
            Self.append(state, to: &json)
            contents.records += 1
            contents.pictures.note(state)
            if json.bytes.count >= Self.pieceSize {
                try sink(json.bytes)
                json.removeAll()
                progress(contents.records, count)
            }
        }
        json.append(raw: type == nil ? "}\n}\n" : "\n    ]\n  }\n}\n")
        try sink(json.bytes)
        return contents
    }

    /// - Returns: the number of records to write.
    private func appendHead(_ db: Database, to json: inout JSONText) throws -> Int {
        let zone = try records.zones.current(db, zone)
        // The zone's own digest also covers hidden records, which an export leaves out.
        var digest = ZoneDigest()
        try records.listing.forEachLiveState(db, zone: self.zone) { digest.insert($0) }
        json.append(raw: "{\n  ")
        json.append(key: "format")
        json.append(quoted: ExportFormat.name)
        json.append(raw: ",\n  \"version\": \(ExportFormat.version),\n  ")
        json.append(key: "zone")
        // The file has the standard name, because the default zone may have another name in each store.
        json.append(quoted: zone.isDefault ? ZoneName.standard.description : zone.name)
        json.append(raw: ",\n  ")
        json.append(key: "exportedAt")
        json.append(quoted: ISO8601.text(milliseconds: now / 1000 * 1000, fraction: .ifNeeded) ?? "")
        json.append(raw: ",\n  ")
        json.append(key: "digest")
        json.append(quoted: digest.hex)
        json.append(raw: ",\n  \"count\": \(digest.count),\n  ")
        json.append(key: "records")
        json.append(raw: "{")
        return Int(clamping: digest.count)
    }

    private static func append(_ state: RecordState, to json: inout JSONText) {
        json.append(raw: "{")
        json.append(key: "recordName")
        json.append(quoted: state.name.description)
        json.append(raw: ", ")
        json.append(key: "fields")
        json.append(raw: "{")
        let type = state.name.recordType
        for (index, field) in state.fields.enumerated() {
            if index > 0 { json.append(raw: ", ") }
            json.append(key: field.name)
            field.value.append(to: &json, kind: ScorebookSchema.columnKind(type, field.name))
        }
        json.append(raw: "}")
        let modified = state.newestWrite.flatMap {
            ISO8601.text(milliseconds: $0.time.milliseconds, fraction: .always)
        }
        if let modified { append("modificationDate", modified, to: &json) }
        appendStamps(state, to: &json)
        json.append(raw: "}")
    }

    private static func appendStamps(_ state: RecordState, to json: inout JSONText) {
        guard let usual = usualStamp(state) else { return }
        append("stamp", usual.description, to: &json)
        let others = state.fields.filter { $0.stamp != usual }
        if !others.isEmpty {
            json.append(raw: ", ")
            json.append(key: "stamps")
            json.append(raw: "{")
            for (index, field) in others.enumerated() {
                if index > 0 { json.append(raw: ", ") }
                json.append(key: field.name)
                json.append(quoted: field.stamp.description)
            }
            json.append(raw: "}")
        }
        if let deletion = state.deletion { append("deletion", deletion.description, to: &json) }
        if let revival = state.revival { append("revival", revival.description, to: &json) }
        if let erasure = state.erasure { append("erasure", erasure.description, to: &json) }
    }

    /// The stamp that most fields have; the earliest of several that equally many have; nil if there are no fields.
    private static func usualStamp(_ state: RecordState) -> Stamp? {
        let counts = Dictionary(state.fields.map { ($0.stamp, 1) }, uniquingKeysWith: +)
        return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    private static func append(_ key: String, _ value: String, to json: inout JSONText) {
        json.append(raw: ", ")
        json.append(key: key)
        json.append(quoted: value)
    }
}
