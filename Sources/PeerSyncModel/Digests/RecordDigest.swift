/// The 32-byte id of one state of a live record: equal exactly when name, fields, values and stamps are equal.
///
/// The id is BLAKE2b-256 over the record name, the number of fields, the name and stamp of each field in order of
/// name, and the 16-byte hash of the values. Protocol/ section "Record ids" is normative. The values have a hash of
/// their own so that a store can keep it: with it, the store can remove a record from its digest after the values have
/// changed.
package struct RecordID: Hashable, Sendable {
    /// The hash, in the form that Negentropy uses.
    let id: NegentropyID

    package var bytes: [UInt8] { id.bytes }

    fileprivate init(_ id: NegentropyID) { self.id = id }

    /// Makes an id from a record name, field stamps (sorted by field name) and the hash of the values.
    package init(name: RecordName, stamps: [(field: String, stamp: Stamp)], valueHash: [UInt8]) {
        var hasher = RecordHasher()
        self = hasher.id(
            name, fieldNames: stamps.map(\.field), stamps: stamps.map(\.stamp), valueHash: valueHash)
    }

    /// Makes the id of a state's fields. It does not check whether the state is live.
    package init(_ state: RecordState) {
        var hasher = RecordHasher()
        self = hasher.hashes(of: state).id
    }

    /// Returns BLAKE2b-128 over the canonical encodings of the values, in the order of the fields' names.
    package static func valueHash(of fields: [RecordField]) -> [UInt8] {
        var hasher = RecordHasher()
        return hasher.valueHash(of: fields).bytes
    }

    /// Bytes of the hash of a record's values.
    package static let valueHashLength = 16
}

/// The hashes of a state's fields.
package struct RecordHashes: Sendable, Equatable {
    package let id: RecordID
    package let valueHash: ValueHash
}

/// BLAKE2b-128 over the canonical encodings of a record's values.
package struct ValueHash: Sendable, Equatable {
    private var bits: UInt128 = 0

    fileprivate init(of input: [UInt8]) {
        withUnsafeMutableBytes(of: &bits) { BLAKE2b.hash(input, into: $0) }
    }

    package var bytes: [UInt8] { withUnsafeBytes(of: bits) { Array($0) } }

    package func append(to output: inout [UInt8]) {
        withUnsafeBytes(of: bits) { output.append(contentsOf: $0) }
    }

    /// Whether these are the bytes of the hash.
    package func equals(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes(of: bits) { $0.elementsEqual(bytes) }
    }
}

/// Computes the hashes of records one after the other, and reuses its buffer.
package struct RecordHasher {
    private var input: [UInt8] = []

    package init() {}

    /// Returns the hashes of a state's fields.
    package mutating func hashes(of state: RecordState) -> RecordHashes {
        let valueHash = valueHash(of: state.fields)
        begin(state.name, fieldCount: state.fields.count)
        for field in state.fields { append(field.name, field.stamp) }
        valueHash.append(to: &input)
        return RecordHashes(id: finish(), valueHash: valueHash)
    }

    /// Returns the hash of the values of some fields, in order of name.
    package mutating func valueHash(of fields: [RecordField]) -> ValueHash {
        input.removeAll(keepingCapacity: true)
        for field in fields { field.value.appendCanonical(to: &input) }
        return ValueHash(of: input)
    }

    /// Returns the id of a record with these fields, in order of name, each with its stamp.
    package mutating func id(
        _ name: RecordName, fieldNames: [String], stamps: [Stamp], valueHash: [UInt8]
    ) -> RecordID {
        begin(name, fieldCount: stamps.count)
        for index in stamps.indices { append(fieldNames[index], stamps[index]) }
        input.append(contentsOf: valueHash)
        return finish()
    }

    /// Returns the hash of the values that `append` encodes, in order of name; nil if it gives up.
    package mutating func valueHash(_ append: (inout [UInt8]) -> Bool) -> ValueHash? {
        input.removeAll(keepingCapacity: true)
        return append(&input) ? ValueHash(of: input) : nil
    }

    /// Returns the id of a record from encoded stamps.
    ///
    /// - Parameters:
    ///   - stamp: the encoding of the stamp of all fields but `exceptions`.
    ///   - exceptions: the encodings of the other stamps, by the indexes of their fields.
    ///   - valueHash: the bytes of the hash.
    package mutating func id(
        _ name: RecordName, _ fields: EncodedFieldNames, stamp: UnsafeRawBufferPointer,
        exceptions: [(field: Int, stamp: UnsafeRawBufferPointer)], valueHash: UnsafeRawBufferPointer
    ) -> RecordID {
        input.removeAll(keepingCapacity: true)
        input.append(counted: name.description.utf8)
        let begin = input.count
        input.append(contentsOf: fields.bytes)
        input.withUnsafeMutableBytes { input in
            for offset in fields.stampOffsets {
                input[(begin + offset)...].copyBytes(from: stamp)
            }
            for (field, stamp) in exceptions {
                input[(begin + fields.stampOffsets[field])...].copyBytes(from: stamp)
            }
        }
        input.append(contentsOf: valueHash)
        return finish()
    }

    private mutating func begin(_ name: RecordName, fieldCount: Int) {
        input.removeAll(keepingCapacity: true)
        input.append(counted: name.description.utf8)
        VariableLengthInteger.append(UInt64(fieldCount), to: &input)
    }

    private mutating func append(_ field: String, _ stamp: Stamp) {
        input.append(counted: field.utf8)
        input.append(stamp)
    }

    private func finish() -> RecordID { RecordID(NegentropyID { BLAKE2b.hash(input, into: $0) }) }
}

/// The number and the names of a record's fields as they stand in the input of its id, with room for a stamp behind each
/// name. Many records have the same.
package struct EncodedFieldNames: Sendable {
    fileprivate var bytes: [UInt8] = []
    fileprivate var stampOffsets: [Int] = []

    /// - Parameter names: the names, sorted.
    package init(_ names: [String]) {
        VariableLengthInteger.append(UInt64(names.count), to: &bytes)
        for name in names {
            bytes.append(counted: name.utf8)
            stampOffsets.append(bytes.count)
            bytes.append(contentsOf: repeatElement(0, count: Stamp.byteCount))
        }
    }

    /// The number of names.
    package var count: Int { stampOffsets.count }
}

/// The number of a zone's live records, and the sum of their ids modulo 2^256.
///
/// A store can update a sum record by record, in any order; that is why Negentropy V1 chose it. Two zones with equal
/// digests hold the same live records.
public struct ZoneDigest: Hashable, Sendable {
    /// The number of live records.
    public private(set) var count: UInt64
    /// The sum of the ids as little-endian integers modulo 2^256.
    private var sum = NegentropySum()

    /// Makes the digest of a zone without records.
    public init() {
        count = 0
    }

    /// Restores a digest from its stored parts.
    ///
    /// - Parameter sumBytes: 32 bytes, little-endian. The initializer returns nil for any other length.
    package init?(count: UInt64, sumBytes: [UInt8]) {
        guard let sum = NegentropySum(sumBytes) else { return nil }
        self.count = count
        self.sum = sum
    }

    /// The sum as 32 bytes, little-endian.
    package var sumBytes: [UInt8] { sum.bytes }

    /// Adds a record. A record that is not live adds nothing.
    ///
    /// Two lists of records with equal digests hold the same records, whatever their order: an app can tell this of an
    /// export and of the store that it came from.
    public mutating func insert(_ record: RecordState) {
        guard record.isLive else { return }
        insert(RecordID(record))
    }

    /// Adds a live record.
    package mutating func insert(_ id: RecordID) {
        sum += id.id
        count &+= 1
    }

    /// Removes a record that was added before.
    package mutating func remove(_ id: RecordID) {
        sum -= id.id
        count &-= 1
    }

    /// The 16 bytes that peers compare: Negentropy's fingerprint of the sum and the count.
    public var fingerprint: [UInt8] { sum.fingerprint(count: count) }

    /// The fingerprint in 32 hexadecimal digits.
    public var hex: String { fingerprint.hexadecimal }
}
