import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// Records: the encodings of a batch, of values, of what a store keeps of a record, and of names, dates and assets as text.
enum RecordTarget {
    static let modes = 8

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0: try batch(input.rest())
        case 1: try value(input.rest())
        case 2: try text(input.rest())
        case 3: try metadata(input.rest())
        case 4: try MergeTarget.run(&input)
        case 5: try madeBatch(&input)
        case 6: try asset(&input)
        default: try moment(Int64(bitPattern: input.uint64()))
        }
    }

    // MARK: Batches

    /// The payload of a batch as a peer may send it.
    private static func batch(_ bytes: [UInt8]) throws {
        var buffer = ByteBuffer(bytes: bytes)
        guard let batch = try? BatchCodec.decode(&buffer) else { return }
        try expect(batch.records.count <= bytes.count / 4, "\(batch.records.count) records of nothing")
        let fields = batch.records.reduce(0) { $0 + $1.fields.count }
        try expect(
            fields <= min(bytes.count, ProtocolLimits.maximumBatchFields), "\(fields) fields of nothing")
        for record in batch.records.prefix(4) { try check(record) }
        try roundTrip(batch)
        // Records of one batch become states of one record, which no honest peer sends.
        let states = batch.records.prefix(3).map { record in
            RecordState(
                name: batch.records[0].name, sortedFields: record.fields, deletion: record.deletion,
                revival: record.revival, erasure: record.erasure)
        }
        try MergeTarget.checkLaws(states)
    }

    private static func madeBatch(_ input: inout FuzzInput) throws {
        var records: [RecordState] = []
        repeat {
            let name = FuzzRecords.names[input.number(below: FuzzRecords.names.count)]
            let state = FuzzRecords.state(&input, name: name)
            if !state.isEmpty { records.append(state) }
        } while !input.isAtEnd && records.count < 32
        let token = FuzzRecords.token(&input)
        try roundTrip(
            ChangeBatch(records: records, token: token, isLast: input.flag(), isLoose: input.flag()))
    }

    private static func roundTrip(_ batch: ChangeBatch) throws {
        var once = ByteBuffer()
        BatchCodec.encode(batch, into: &once)
        var rest = once
        let again: ChangeBatch
        do {
            again = try BatchCodec.decode(&rest)
        } catch {
            throw BrokenInvariant(description: "a batch that was encoded does not decode: \(error)")
        }
        try expect(again == batch, "\(batch) came back as \(again)")
        try expect(rest.readableBytes == 0, "a batch was not read to its end")
        var twice = ByteBuffer()
        BatchCodec.encode(again, into: &twice)
        try expect(once == twice, "a batch has two encodings")
    }

    /// What must hold of any state that was taken in.
    private static func check(_ state: RecordState) throws {
        let names = state.fields.map(\.name)
        try expect(zip(names, names.dropFirst()).allSatisfy { $0 < $1 }, "fields out of order: \(names)")
        try expect(names.count <= RecordState.maximumFieldCount, "\(names.count) fields")
        try expect(!(state.isLive && state.isDeleted), "\(state.name) is live and deleted")
        if let erasure = state.erasure {
            try expect(
                state.deletion.map { $0 >= erasure } == true, "\(state.name) was erased and not deleted")
            try expect(
                state.fields.allSatisfy { $0.stamp > erasure }, "\(state.name) has fields that were erased")
        }
        for field in state.fields { try check(field.value) }
        if let newest = state.newestWrite { _ = HybridLogicalClock(last: newest.time).last }
        var digest = ZoneDigest()
        let empty = digest
        digest.insert(RecordID(state))
        try expect(digest != empty && digest.count == 1, "a digest that does not see a record")
        digest.remove(RecordID(state))
        try expect(digest == empty, "a digest that does not forget a record")
        try stored(state)
    }

    // MARK: Values

    private static func value(_ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard let value = try? reader.value() else { return }
        try check(value)
    }

    private static func check(_ value: FieldValue) throws {
        let bytes = value.canonicalBytes
        var reader = ByteReader(bytes)
        guard let again = try? reader.value(), reader.isAtEnd else {
            throw BrokenInvariant(description: "the canonical encoding of \(value) cannot be read")
        }
        try expect(again == value, "\(value) came back as \(again)")
        try expect(again.canonicalBytes == bytes, "\(value) has two canonical encodings")
        switch value {
        case .asset(let asset): try check(asset)
        case .date(let milliseconds): try moment(milliseconds)
        case .reference(let name): try check(name)
        default: break
        }
    }

    // MARK: Text

    /// Names, dates and assets as they stand in columns.
    private static func text(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if let name = try? RecordName(text) { try check(name) }
        if let milliseconds = ISO8601.milliseconds(canonical: text) {
            let again = ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded)
            try expect(again == text, "\(text) came back as \(again ?? "nothing")")
        }
        if let asset = Asset(json: text) {
            try expect(asset.json.utf8.elementsEqual(text.utf8), "\(text) came back as \(asset.json)")
            try check(asset)
        }
        if let zone = ZoneName(text) { try expect(zone.description == text, "\(text) as \(zone)") }
        let name = Asset.name(from: text)
        let asset = Asset(hash: FuzzRecords.hashes[0], size: 1, mediaType: "image/png", name: name)
        try expect(asset != nil, "“\(name)” was made a file's name and is none")
        if let hash = AssetHash(hex: text) { try expect(hash.description == text, "\(text) as \(hash)") }
    }

    private static func check(_ name: RecordName) throws {
        let again = try? RecordName(recordType: name.recordType, suffix: name.suffix)
        try expect(again == name, "\(name) is not made of its parts")
        try expect(
            (5...RecordName.maximumLength).contains(name.description.utf8.count), "\(name) has that length")
    }

    private static func asset(_ input: inout FuzzInput) throws {
        let size = Int64(bitPattern: input.uint64())
        let type = input.flag() ? "image/png" : String(decoding: input.take(Int(input.byte())), as: UTF8.self)
        let name = String(decoding: input.rest(), as: UTF8.self)
        let hash = FuzzRecords.hashes[1]
        guard let asset = Asset(hash: hash, size: size, mediaType: type, name: name) else { return }
        try check(asset)
        try check(FieldValue.asset(asset))
    }

    private static func check(_ asset: Asset) throws {
        let again = Asset(json: asset.json)
        try expect(again == asset, "\(asset.json) came back as \(again?.json ?? "nothing")")
    }

    private static func moment(_ milliseconds: Int64) throws {
        for fraction in [ISO8601.Fraction.ifNeeded, .always] {
            guard let text = ISO8601.text(milliseconds: milliseconds, fraction: fraction) else {
                return try expect(!ISO8601.writable.contains(milliseconds), "\(milliseconds) has no text")
            }
            try expect(
                [20, 24].contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 },
                "\(milliseconds) is written as \(text)")
            let again = ISO8601.milliseconds(canonical: text)
            try expect(
                again == milliseconds || (fraction == .always && milliseconds % 1000 == 0),
                "\(milliseconds) came back as \(again ?? -1)")
        }
    }

    // MARK: Stored records

    private static let shapes: [[String]] = [[], ["name"], ["a", "b", "c"], (0..<40).map { "f\($0 + 10)" }]

    /// What a store keeps of a record besides its row.
    private static func metadata(_ bytes: [UInt8]) throws {
        struct Unknown: Error {}
        func fieldNames(_ id: Int64) throws -> [String] {
            guard (0..<Int64(shapes.count)).contains(id) else { throw Unknown() }
            return shapes[Int(id)]
        }
        guard let metadata = try? RecordMetadata(bytes, fieldNames: fieldNames) else { return }
        guard let id = shapes.firstIndex(of: metadata.fieldNames) else {
            throw BrokenInvariant(description: "a shape that there is not")
        }
        try expect(metadata.stamps.count == metadata.fieldNames.count, "stamps that belong to no field")
        let once = metadata.encoded(shapeID: Int64(id))
        try expect(once.count <= bytes.count, "\(bytes.count) bytes became \(once.count)")
        guard let again = try? RecordMetadata(once, fieldNames: fieldNames) else {
            throw BrokenInvariant(description: "stored metadata cannot be read")
        }
        try expect(again.encoded(shapeID: Int64(id)) == once, "stored metadata has two encodings")
    }

    /// A state that came from a peer is kept, with all its values.
    private static func stored(_ state: RecordState) throws {
        let names = state.fields.map(\.name)
        let blob = RecordMetadata(state).encoded(shapeID: 7)
        guard let again = try? RecordMetadata(blob, fieldNames: { _ in names }) else {
            throw BrokenInvariant(description: "the metadata of \(state) cannot be read")
        }
        try expect(
            again.stamps == state.fields.map(\.stamp) && again.deletion == state.deletion
                && again.revival == state.revival && again.erasure == state.erasure
                && again.storedValues == Dictionary(state.fields.map { ($0.name, $0.value) }) { $1 },
            "\(state) is kept as something else")
    }
}
