/// A record's description of a file that belongs to it, such as a photo: hash, size, media type and name.
///
/// The bytes are no part of the record. A store keeps them in files that it finds by their hash. So it keeps a file
/// once, however many records have it, and a receiver can check that the bytes are right.
///
/// In a column an asset is JSON text with the keys in this order and no blanks:
///
///     {"hash":"0f3a…","name":"IMG_1234.jpg","size":482113,"type":"image/jpeg"}
public struct Asset: Hashable, Sendable {
    /// The most bytes that a file may have: 2 GiB.
    public static let maximumSize: Int64 = 2 << 30
    /// More bytes than the longest text of an asset has, which is about 800.
    private static let textLimit = 2048
    /// The most bytes of a media type.
    public static let maximumMediaTypeLength = 127
    /// The most bytes of a file name in UTF-8, which is what file systems allow.
    public static let maximumNameLength = 255

    /// The hash of the file's bytes.
    public let hash: AssetHash
    /// The size of the file in bytes.
    public let size: Int64
    /// The kind of the file, as in `image/jpeg` (RFC 6838), in lower case.
    public let mediaType: String
    /// The file's original name, for people; empty if nobody knows it. Never a path.
    public let name: String

    /// - Returns: nil if the size is out of bounds, or if the media type or the name is not valid.
    public init?(hash: AssetHash, size: Int64, mediaType: String, name: String) {
        guard (0...Self.maximumSize).contains(size), Self.isMediaType(mediaType), Self.isName(name) else {
            return nil
        }
        self.hash = hash
        self.size = size
        self.mediaType = mediaType
        self.name = name
    }

    // Names are equal byte for byte, as values are, not by Unicode's equivalence.
    public static func == (left: Asset, right: Asset) -> Bool {
        left.hash == right.hash && left.size == right.size && left.mediaType == right.mediaType
            && left.name.utf8.elementsEqual(right.name.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
        hasher.combine(size)
    }

    /// Whether a text can be a ``mediaType``.
    package static func isMediaType(_ text: String) -> Bool {
        guard text.utf8.count <= maximumMediaTypeLength else { return false }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                            || "!#$&-^_.+".utf8.contains(byte)
                    }
            }
    }

    /// Whether a text can be a file's name: it leads to no other folder, and has no control characters, which move a
    /// cursor.
    private static func isName(_ text: String) -> Bool {
        guard text.utf8.count <= maximumNameLength, text != ".", text != ".." else { return false }
        return !text.unicodeScalars.contains { scalar in
            scalar == "/" || scalar == "\\" || scalar.properties.generalCategory == .control
        }
    }

    /// Returns the nearest valid name: without invalid characters, and cut to length at a character's end.
    public static func name(from text: String) -> String {
        var name = ""
        for character in text {
            guard isName("_\(character)") else { continue }
            guard name.utf8.count + character.utf8.count <= maximumNameLength else { break }
            name.append(character)
        }
        return isName(name) ? name : ""
    }
}

/// The BLAKE2b-256 hash of a file's bytes.
public struct AssetHash: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 32 bytes.
    public static let length = 32

    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    /// - Returns: nil for anything but 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// - Parameter hex: 64 hexadecimal digits in lower case. The initializer returns nil for any other text.
    public init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: hex), bytes.hexadecimal == hex else { return nil }
        self.init(bytes)
    }

    /// Hashes all bytes at once: an array passes them to the hasher one by one.
    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    /// 64 hexadecimal digits in lower case.
    public var description: String { bytes.hexadecimal }

    public static func < (left: AssetHash, right: AssetHash) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension Asset {
    private static let quote = UInt8(ascii: "\"")

    /// The text of an asset in a column. It equals the result of SQLite's
    /// `json_object('hash', …, 'name', …, 'size', …, 'type', …)`.
    public var json: String {
        // The quotation mark is the only character of a name that JSON escapes.
        let escaped = String(
            decoding: name.utf8.flatMap { $0 == Self.quote ? [0x5C, $0] : [$0] }, as: UTF8.self)
        return "{\"hash\":\"\(hash)\",\"name\":\"\(escaped)\",\"size\":\(size),\"type\":\"\(mediaType)\"}"
    }

    /// Reads exactly the text that ``json`` writes.
    ///
    /// - Returns: nil for any other text, also for other JSON with the same content.
    public init?(json text: String) {
        guard text.utf8.count <= Self.textLimit else { return nil }
        // The parser compares bytes: in Swift, a quotation mark and an accent at the start of a name are one
        // character.
        var rest = Array(text.utf8)[...]
        func take(_ literal: String) -> Bool {
            guard rest.starts(with: literal.utf8) else { return false }
            rest = rest.dropFirst(literal.utf8.count)
            return true
        }
        func take(upTo literal: String) -> String? {
            guard let range = rest.firstRange(of: Array(literal.utf8)) else { return nil }
            defer { rest = rest[range.upperBound...] }
            return String(decoding: rest[..<range.lowerBound], as: UTF8.self)
        }
        // Only the name may contain a delimiter, so the search for its end begins at the end of the text.
        guard take("{\"hash\":\""), let hash = take(upTo: "\",\"name\":\"").flatMap(AssetHash.init(hex:)),
            let size = rest.ranges(of: Array("\",\"size\":".utf8)).last
        else { return nil }
        let name = rest[..<size.lowerBound].replacing([0x5C, Self.quote], with: [Self.quote])
        rest = rest[size.upperBound...]
        guard let number = take(upTo: ",\"type\":\"").flatMap({ Int64($0) }),
            let type = take(upTo: "\"}"), rest.isEmpty,
            let asset = Asset(
                hash: hash, size: number, mediaType: type, name: String(decoding: name, as: UTF8.self)),
            asset.json.utf8.elementsEqual(text.utf8)
        else { return nil }
        self = asset
    }

    /// Reads the same text from its bytes in UTF-8.
    package init?(jsonBytes bytes: [UInt8]) {
        // What programs write into a column of files may have any length, and is not copied to find out.
        guard bytes.count <= Self.textLimit, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        self.init(json: text)
    }

    /// Appends the fields that every encoding of an asset has: hash, size, media type, name.
    package func append(to output: inout [UInt8]) {
        output.append(contentsOf: hash.bytes)
        VariableLengthInteger.append(UInt64(size), to: &output)
        for text in [mediaType, name] { output.append(counted: text.utf8) }
    }
}

extension Asset: Codable {
    private enum CodingKeys: String, CodingKey { case hash, name, size, type }

    /// Writes an object with the keys of ``json``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hash.description, forKey: .hash)
        try container.encode(name, forKey: .name)
        try container.encode(size, forKey: .size)
        try container.encode(mediaType, forKey: .type)
    }

    /// Reads such an object, in whatever order its keys are.
    ///
    /// - Throws: `DecodingError`, also when the size is out of bounds, or when the hash, the media type or the name is not valid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let hash = AssetHash(hex: try container.decode(String.self, forKey: .hash))
        let (name, size, type) = (
            try container.decode(String.self, forKey: .name), try container.decode(Int64.self, forKey: .size),
            try container.decode(String.self, forKey: .type)
        )
        guard let asset = hash.flatMap({ Asset(hash: $0, size: size, mediaType: type, name: name) }) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "this describes no file"))
        }
        self = asset
    }
}
