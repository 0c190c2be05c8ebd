/// The value of one field of a record: a value of SQLite, with dates, references and assets told apart from text.
///
/// The text of a date column becomes a `date`, that of a reference column a `reference`, and that of an asset column
/// an `asset`, but only if the conversion back gives the same text. Any other text in those columns stays `text`, so
/// that sync changes no value.
public enum FieldValue: Hashable, Sendable {
    /// SQL's NULL.
    case null
    /// A number without fraction.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text in UTF-8, also one that could not become a date, a reference or an asset.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// Milliseconds since 1970-01-01T00:00:00Z.
    case date(Int64)
    /// The record this field refers to.
    case reference(RecordName)
    /// A file that belongs to the record. Indirect, so that all other values are small.
    indirect case asset(Asset)

    /// Values are equal if their canonical encodings are. Texts compare byte for byte, not by Unicode's equivalence,
    /// and 0.0 is not -0.0.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.blob(let left), .blob(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.asset(let left), .asset(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalBytes)
    }

    /// Whether other machines take the value: a number is none that SQLite would turn into null, and the year of a date has four digits.
    ///
    /// A store refuses to merge records with other values. An import asks this first where it can say in which place of a file the value stands.
    public var canBeSent: Bool {
        switch self {
        case .real(let number): !number.isNaN
        case .date(let milliseconds): ISO8601.writable.contains(milliseconds)
        case .null, .integer, .text, .blob, .reference, .asset: true
        }
    }
}

/// The tags of the canonical encoding. Protocol/ section "Values" is the normative text.
package enum ValueTag {
    package static let null: UInt8 = 0x00
    package static let real: UInt8 = 0x02
    package static let text: UInt8 = 0x03
    package static let blob: UInt8 = 0x04
    package static let reference: UInt8 = 0x06
    package static let asset: UInt8 = 0x07
    /// An integer of n bytes, big-endian two's complement, has the tag 0x10 + n; 0 has no bytes.
    package static let integer: UInt8 = 0x10
    /// A date of n bytes, laid out as an integer, has the tag 0x20 + n.
    package static let date: UInt8 = 0x20
}

extension FieldValue {
    /// Appends the canonical encoding: equal values have equal bytes, different values different ones.
    ///
    /// Record ids hash this encoding, and it orders two values under one stamp.
    package func appendCanonical(to output: inout [UInt8]) {
        switch self {
        case .null:
            output.append(ValueTag.null)
        case .integer(let value):
            Self.append(minimal: value, tag: ValueTag.integer, to: &output)
        case .real(let value):
            output.append(ValueTag.real)
            output.append(bigEndian: value.bitPattern)
        case .text(let text):
            Self.append(ValueTag.text, text.utf8, to: &output)
        case .blob(let bytes):
            Self.append(ValueTag.blob, bytes, to: &output)
        case .date(let milliseconds):
            Self.append(minimal: milliseconds, tag: ValueTag.date, to: &output)
        case .reference(let name):
            Self.append(ValueTag.reference, name.description.utf8, to: &output)
        case .asset(let asset):
            output.append(ValueTag.asset)
            asset.append(to: &output)
        }
    }

    /// The canonical encoding on its own.
    package var canonicalBytes: [UInt8] {
        var output: [UInt8] = []
        appendCanonical(to: &output)
        return output
    }

    private static func append(_ tag: UInt8, _ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
        output.append(tag)
        output.append(counted: bytes)
    }

    /// Appends a tag with its byte count added, then the fewest bytes that hold the value.
    private static func append(minimal value: Int64, tag: UInt8, to output: inout [UInt8]) {
        let count = minimalByteCount(value)
        output.append(tag + UInt8(count))
        for index in (0..<count).reversed() {
            output.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
    }

    /// Returns the number of bytes of two's complement that `value` needs: 0 for 0, at most 8.
    package static func minimalByteCount(_ value: Int64) -> Int {
        guard value != 0 else { return 0 }
        let magnitudeBits = 64 - (value < 0 ? ~value : value).leadingZeroBitCount
        return magnitudeBits / 8 + 1
    }
}

extension [UInt8] {
    /// Appends the eight bytes of an integer, most significant first.
    package mutating func append(bigEndian value: UInt64) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
