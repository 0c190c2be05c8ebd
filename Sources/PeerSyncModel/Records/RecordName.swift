/// The name of a record: its record type, the separator `|~|`, and a suffix that is unique within the type.
///
/// `Book|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4` is the record of a book. Because the name includes the type, a
/// deletion needs only the name. New names use a UUIDv7 suffix; any suffix of printable ASCII is valid. Names compare
/// by their bytes.
///
/// Bounds: 5 to 255 bytes, printable ASCII (0x20...0x7E); the type is an identifier
/// (`[A-Za-z_][A-Za-z0-9_]*`) of at most 63 bytes, the suffix is not empty.
public struct RecordName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The text between the record type and the suffix.
    public static let separator = "|~|"
    /// The greatest length of a whole name, in bytes.
    public static let maximumLength = 255
    /// The greatest length of a record type, in bytes.
    public static let maximumTypeLength = 63

    /// The whole name, type included.
    public let description: String
    private let typeLength: UInt8

    /// The record type: the text before the separator.
    public var recordType: String { String(description.utf8.prefix(Int(typeLength)))! }

    /// Whether the record is of that type.
    package func isOfType(_ type: String) -> Bool {
        type.utf8.count == Int(typeLength) && description.utf8.starts(with: type.utf8)
    }

    /// The text after the separator.
    public var suffix: Substring {
        description[description.utf8.index(description.startIndex, offsetBy: Int(typeLength) + 3)...]
    }

    /// Makes a name from its whole text.
    ///
    /// - Throws: ``RecordNameError`` with the rule that the text breaks.
    public init(_ text: String) throws(RecordNameError) {
        let bytes = text.utf8
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes.count) }
        for byte in bytes where byte < 0x20 || byte > 0x7E { throw .notPrintableASCII }
        guard let separator = Self.separatorOffset(in: bytes) else { throw .noType(text) }
        guard separator <= Self.maximumTypeLength, Self.isIdentifier(bytes.prefix(separator)) else {
            throw .noType(text)
        }
        guard bytes.count > separator + 3 else { throw .noSuffix(text) }
        self.description = text
        self.typeLength = UInt8(separator)
    }

    /// Builds the name of a record of `recordType` from a suffix.
    public init(recordType: String, suffix: some StringProtocol) throws(RecordNameError) {
        try self.init(recordType + Self.separator + suffix)
    }

    /// Builds the name of a record from its type and the text of a UUID as the suffix.
    ///
    /// - Parameters:
    ///   - uuid: ``HexUUID/byteCount`` bytes.
    ///   - isUppercase: whether the digits above 9 are capitals.
    /// - Precondition: `type` is a record type: an identifier of at most ``maximumTypeLength`` bytes.
    package init(recordType type: String, uuid: UnsafeRawBufferPointer, isUppercase: Bool) {
        let typeLength = type.utf8.count
        let length = typeLength + 3 + HexUUID.length
        description = String(unsafeUninitializedCapacity: length) { output in
            _ = output.update(fromContentsOf: type.utf8)
            _ = output[typeLength...].update(fromContentsOf: Self.separator.utf8)
            HexUUID.write(
                uuid, uppercase: isUppercase,
                to: UnsafeMutableBufferPointer(rebasing: output[(typeLength + 3)...]))
            return length
        }
        self.typeLength = UInt8(typeLength)
    }

    private static func separatorOffset(in bytes: String.UTF8View) -> Int? {
        var matched = 0
        for (offset, byte) in bytes.enumerated() {
            if byte == (matched == 1 ? UInt8(ascii: "~") : UInt8(ascii: "|")) {
                matched += 1
                if matched == 3 { return offset - 2 }
            } else {
                matched = byte == UInt8(ascii: "|") ? 1 : 0
            }
        }
        return nil
    }

    /// Whether the bytes can name a record type or a field, that is, whether SQL takes them unquoted.
    package static func isIdentifier(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, !(0x30...0x39).contains(first) else { return false }
        return bytes.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || (0x30...0x39).contains(byte) || byte == 0x5F
        }
    }

    public static func == (left: RecordName, right: RecordName) -> Bool {
        left.description == right.description
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(description)
    }

    /// Orders names by their bytes, as SQLite's BINARY collation does.
    public static func < (left: RecordName, right: RecordName) -> Bool {
        // Swift compares ASCII strings by their code units, so this is the order of the bytes.
        left.description < right.description
    }
}

extension RecordName: Encodable {
    /// Writes the whole name as one text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Reasons why a text is not a record name. Each description is one sentence.
public enum RecordNameError: Error, Equatable, CustomStringConvertible {
    /// The text is empty.
    case empty
    /// The text has that many bytes, which are too many.
    case tooLong(Int)
    /// The text has other characters than printable ASCII.
    case notPrintableASCII
    /// The text does not begin with a record type and the separator.
    case noType(String)
    /// Nothing follows the separator.
    case noSuffix(String)

    public var description: String {
        switch self {
        case .empty:
            "a record name cannot be empty"
        case .tooLong(let length):
            "the record name has \(length) bytes; at most \(RecordName.maximumLength) are allowed"
        case .notPrintableASCII:
            "a record name holds printable ASCII characters only"
        case .noType(let text):
            "“\(text)” does not begin with a record type and |~|"
        case .noSuffix(let text):
            "“\(text)” has nothing after |~|"
        }
    }
}
