/// The 32-byte id of one state of a live record: equal exactly when name, fields, values and stamps are equal.
///
/// BLAKE2b-256 over the record name, then for each field in order of name its name, its stamp; then the
/// 16-byte hash of the values. Protocol/ section "Digest" is the normative text. The values are hashed apart,
/// so that a store that keeps that hash can take a record out of its digest after the values have changed.
package struct RecordID: Hashable, Sendable {
    package let bytes: [UInt8]

    /// The id of the record with that name, those field stamps (sorted by field name) and that hash of values.
    package init(name: RecordName, stamps: [(field: String, stamp: Stamp)], valueHash: [UInt8]) {
        var input: [UInt8] = []
        input.reserveCapacity(64 + stamps.count * 32)
        Self.append(name.description, to: &input)
        VariableLengthInteger.append(UInt64(stamps.count), to: &input)
        for (field, stamp) in stamps {
            Self.append(field, to: &input)
            input.append(bigEndian: stamp.time.rawValue)
            input.append(bigEndian: stamp.replica.rawValue)
        }
        input.append(contentsOf: valueHash)
        bytes = BLAKE2b.hash(input, length: 32)
    }

    /// The id of a state's fields; whether the state is live is for the caller to know.
    package init(_ state: RecordState) {
        self.init(
            name: state.name, stamps: state.fields.map { ($0.name, $0.stamp) },
            valueHash: Self.valueHash(of: state.fields))
    }

    /// BLAKE2b-128 over the canonical encodings of the values, in the order of the fields' names.
    package static func valueHash(of fields: [RecordField]) -> [UInt8] {
        var input: [UInt8] = []
        for field in fields {
            field.value.appendCanonical(to: &input)
        }
        return BLAKE2b.hash(input, length: valueHashLength)
    }

    /// Bytes of the hash of a record's values.
    package static let valueHashLength = 16

    private static func append(_ text: String, to output: inout [UInt8]) {
        VariableLengthInteger.append(UInt64(text.utf8.count), to: &output)
        output.append(contentsOf: text.utf8)
    }
}

/// What a zone's live records add up to: their number, and the sum of their ids modulo 2^256.
///
/// A sum can be kept up to date record by record, in any order, which is why Negentropy V1 chose it. Two zones
/// with equal digests hold the same live records.
public struct ZoneDigest: Hashable, Sendable {
    /// How many live records there are.
    public private(set) var count: UInt64
    /// The sum of the ids as little-endian integers modulo 2^256.
    private var sum = NegentropySum()

    public init() {
        count = 0
    }

    /// Restores a digest from its stored parts.
    ///
    /// - Parameter sumBytes: 32 bytes, little-endian; nil is returned for any other length.
    package init?(count: UInt64, sumBytes: [UInt8]) {
        guard let sum = NegentropySum(sumBytes) else { return nil }
        self.count = count
        self.sum = sum
    }

    /// The sum as 32 bytes, little-endian.
    package var sumBytes: [UInt8] { sum.bytes }

    /// Takes a live record in.
    package mutating func insert(_ id: RecordID) {
        sum += NegentropyID(id)
        count &+= 1
    }

    /// Takes a record out that was taken in before.
    package mutating func remove(_ id: RecordID) {
        sum -= NegentropyID(id)
        count &-= 1
    }

    /// The 16 bytes that peers compare, as Negentropy makes them of the sum and the count.
    public var fingerprint: [UInt8] { sum.fingerprint(count: count) }

    /// The fingerprint in 32 hexadecimal digits.
    public var hex: String { fingerprint.hexadecimal }
}
