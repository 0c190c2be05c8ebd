import CSodium

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
    /// The sum of the ids as little-endian integers modulo 2^256, least significant word first.
    private var sum: (UInt64, UInt64, UInt64, UInt64)

    public init() {
        count = 0
        sum = (0, 0, 0, 0)
    }

    /// Restores a digest from its stored parts.
    ///
    /// - Parameter sumBytes: 32 bytes, little-endian; nil is returned for any other length.
    package init?(count: UInt64, sumBytes: [UInt8]) {
        guard sumBytes.count == 32 else { return nil }
        self.count = count
        sum = Self.words(sumBytes)
    }

    /// The sum as 32 bytes, little-endian.
    package var sumBytes: [UInt8] {
        [sum.0, sum.1, sum.2, sum.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    /// Takes a live record in.
    package mutating func insert(_ id: RecordID) {
        let words = Self.words(id.bytes)
        var carry = false
        (sum.0, carry) = Self.add(sum.0, words.0, carry)
        (sum.1, carry) = Self.add(sum.1, words.1, carry)
        (sum.2, carry) = Self.add(sum.2, words.2, carry)
        (sum.3, carry) = Self.add(sum.3, words.3, carry)
        count &+= 1
    }

    /// Takes a record out that was taken in before.
    package mutating func remove(_ id: RecordID) {
        let words = Self.words(id.bytes)
        // Subtraction is addition of the two's complement: the complement, plus a carry into the first word.
        var carry = true
        (sum.0, carry) = Self.add(sum.0, ~words.0, carry)
        (sum.1, carry) = Self.add(sum.1, ~words.1, carry)
        (sum.2, carry) = Self.add(sum.2, ~words.2, carry)
        (sum.3, carry) = Self.add(sum.3, ~words.3, carry)
        count &-= 1
    }

    /// The 16 bytes that peers compare: the first half of SHA-256 over the sum and the count.
    ///
    /// Source: Negentropy Protocol V1, "Fingerprint"; the count is its base-128 varint.
    public var fingerprint: [UInt8] {
        var input = sumBytes
        Self.appendBase128(count, to: &input)
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, input, UInt64(input.count))
        return Array(hash.prefix(16))
    }

    /// The fingerprint in 32 hexadecimal digits.
    public var hex: String {
        fingerprint.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private static func add(_ left: UInt64, _ right: UInt64, _ carry: Bool) -> (UInt64, Bool) {
        let (partial, first) = left.addingReportingOverflow(right)
        let (result, second) = partial.addingReportingOverflow(carry ? 1 : 0)
        return (result, first || second)
    }

    private static func words(_ bytes: [UInt8]) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[8 * index + $1]) << (8 * UInt64($1)) }
        }
        return (word(0), word(1), word(2), word(3))
    }

    /// Most significant group first, the high bit set on all but the last: Negentropy's varint.
    private static func appendBase128(_ value: UInt64, to output: inout [UInt8]) {
        var groups = [UInt8(value & 0x7F)]
        var rest = value >> 7
        while rest > 0 {
            groups.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        output.append(contentsOf: groups.reversed())
    }

    public static func == (left: ZoneDigest, right: ZoneDigest) -> Bool {
        left.count == right.count && left.sum == right.sum
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(sum.0)
    }
}
