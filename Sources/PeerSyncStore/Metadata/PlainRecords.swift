import GRDB
import GRDBSQLite
import PeerSyncModel

/// Reads the metadata of records where SQLite has it, without making values of it, and computes their ids. It understands those of
/// most records: nobody has deleted or revived them, and their tables hold all values. It leaves all others to ``RecordMetadata``.
struct PlainRecords {
    /// The metadata of a record, valid as long as its BLOB.
    struct Metadata {
        /// The number of the list of field names.
        fileprivate(set) var shape: Int64 = 0
        fileprivate(set) var valueHash = UnsafeRawBufferPointer(start: nil, count: 0)
        fileprivate var stamp = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    let shapes: ShapeTable
    private var hasher = RecordHasher()
    private var namesByShape: [Int64: EncodedFieldNames] = [:]
    private var last: (shape: Int64, names: EncodedFieldNames)?
    private var lastCompared: (table: RecordTable, shape: Int64, areEqual: Bool)?
    private var exceptions: [(field: Int, stamp: UnsafeRawBufferPointer)] = []

    init(_ shapes: ShapeTable) { self.shapes = shapes }

    /// Reads the metadata of a record from a column of a statement; nil if it is not plain.
    mutating func read(_ row: SQLiteStatement, _ index: Int32) throws -> Metadata? {
        guard let blob = sqlite3_column_blob(row, index) else { return nil }
        do {
            return try read(
                Reader(UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(row, index)))))
        } catch is ByteReader.Malformed {
            // The store has no such list of names: RecordMetadata says so.
            return nil
        }
    }

    private mutating func read(_ bytes: Reader) throws -> Metadata? {
        exceptions.removeAll(keepingCapacity: true)
        var reader = bytes
        var metadata = Metadata()
        guard reader.integer() == UInt64(RecordMetadata.version), reader.integer() == 0,
            let shape = reader.integer(), shape > 0, let stamp = reader.take(Stamp.byteCount),
            let count = reader.integer()
        else { return nil }
        metadata.shape = Int64(shape)
        metadata.stamp = stamp
        let fieldCount = try names(metadata.shape).count
        for _ in 0..<count {
            guard let field = reader.integer(), field < fieldCount, let stamp = reader.take(Stamp.byteCount)
            else { return nil }
            exceptions.append((Int(field), stamp))
        }
        // No value may follow.
        guard let hash = reader.take(RecordID.valueHashLength), reader.integer() == 0, reader.isAtEnd else {
            return nil
        }
        metadata.valueHash = hash
        return metadata
    }

    /// Returns the id of the record whose metadata this has just read.
    mutating func id(_ name: RecordName, _ metadata: Metadata) throws -> RecordID {
        hasher.id(
            name, try names(metadata.shape), stamp: metadata.stamp, exceptions: exceptions,
            valueHash: metadata.valueHash)
    }

    /// Reads the item of a record; nil if its metadata is not plain.
    mutating func item(_ name: RecordName, _ row: SQLiteStatement, _ index: Int32) throws -> NegentropyItem? {
        guard let metadata = try read(row, index) else { return nil }
        var newest: UInt64 = 0
        let fields = try names(metadata.shape)
        let stamps = exceptions.map(\.stamp) + (exceptions.count < fields.count ? [metadata.stamp] : [])
        for stamp in stamps {
            newest = max(newest, UInt64(bigEndian: stamp.loadUnaligned(as: UInt64.self)))
        }
        return NegentropyItem(
            timestamp: UInt64(HybridTime(rawValue: newest).milliseconds),
            id: NegentropyID(try id(name, metadata)))
    }

    /// Whether a record has the fields of a table and no others.
    mutating func hasFields(of table: RecordTable, _ metadata: Metadata) throws -> Bool {
        if let lastCompared, lastCompared.table === table, lastCompared.shape == metadata.shape {
            return lastCompared.areEqual
        }
        let areEqual = try shapes.fieldNames(metadata.shape) == table.fieldNames
        lastCompared = (table, metadata.shape, areEqual)
        return areEqual
    }

    /// Whether a row has the values that sync last knew. False also when it takes a closer look to say.
    ///
    /// - Parameters:
    ///   - row: a statement with the columns of the table, from `first` on.
    ///   - metadata: that of a record with the fields of the table.
    mutating func areValuesIntact(
        _ table: RecordTable, _ row: SQLiteStatement, from first: Int32, _ metadata: Metadata
    ) -> Bool {
        let hash = hasher.valueHash { input in
            var index = first
            for column in table.columns {
                guard column.appendCanonical(row, index, to: &input) else { return false }
                index += 1
            }
            // A record that may be too large takes a closer look.
            return input.count < RecordState.maximumSize / 2
        }
        return hash?.equals(metadata.valueHash) == true
    }

    private mutating func names(_ shape: Int64) throws -> EncodedFieldNames {
        if let last, last.shape == shape { return last.names }
        if namesByShape.count >= ShapeTable.limit { namesByShape.removeAll(keepingCapacity: true) }
        let names = try namesByShape[shape] ?? EncodedFieldNames(shapes.fieldNames(shape))
        namesByShape[shape] = names
        last = (shape, names)
        return names
    }
}

/// Reads numbers and bytes; nil for what is not there.
private struct Reader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    /// A variable-length integer. A byte below 64 is one, too.
    mutating func integer() -> UInt64? {
        guard let first = rest.popFirst() else { return nil }
        if first < 0x40 { return UInt64(first) }
        return take((1 << Int(first >> 6)) - 1)?.reduce(UInt64(first & 0x3F)) { $0 << 8 | UInt64($1) }
    }
}
