import PeerSyncChannel
import PeerSyncModel

/// The text that a machine announces on its network. Protocol/ "Discovery" is normative.
///
/// Only who knows the machine's static key can tell whose announcement it is. Nothing in it proves anything: whoever hears
/// it can repeat it.
package struct Announcement: Sendable, Equatable {
    /// The version of the text. Machines ignore texts of other versions.
    package static let version = "1"
    /// Bytes of the salt, and of the identifier.
    package static let length = 16
    /// The most bytes of a text that a machine reads.
    package static let greatestSize = 512

    private static let label = Array("peer-sync announcement 1".utf8)

    private let salt: [UInt8]
    private let identifier: [UInt8]
    /// Whether the machine shows a pairing code.
    package let showsCode: Bool

    /// - Parameter salt: random, and new for each announcement, so that strangers cannot follow a machine by it.
    package init(
        of key: PublicKey, salt: [UInt8] = Announcement.randomSalt(), showsCode: Bool
    ) {
        precondition(salt.count == Self.length)
        self.salt = salt
        self.showsCode = showsCode
        identifier = Self.identifier(of: key, salt)
    }

    /// Reads the text of a DNS-SD service.
    ///
    /// - Returns: nil for a text of another version, and for one that is no announcement.
    package init?(text: [UInt8]) {
        guard text.count <= Self.greatestSize, let values = Self.values(text), values["v"] == Self.version,
            let salt = values["salt"].flatMap({ [UInt8](hexadecimal: $0) }), salt.count == Self.length,
            let identifier = values["id"].flatMap({ [UInt8](hexadecimal: $0) }),
            identifier.count == Self.length
        else { return nil }
        self.salt = salt
        self.identifier = identifier
        showsCode = values["pair"] == "1"
    }

    /// The text of a DNS-SD service (RFC 6763, section 6): strings, each after a byte with its length.
    package var text: [UInt8] {
        var strings = ["v=\(Self.version)", "salt=\(salt.hexadecimal)", "id=\(identifier.hexadecimal)"]
        if showsCode { strings.append("pair=1") }
        return strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    /// Whether the announcement names the holder of this key, or somebody who repeats what that machine has announced.
    package func names(_ key: PublicKey) -> Bool { Self.identifier(of: key, salt) == identifier }

    package static func randomSalt() -> [UInt8] { Sodium.randomBytes(count: length) }

    private static func identifier(of key: PublicKey, _ salt: [UInt8]) -> [UInt8] {
        BLAKE2b.hash(label + salt, key: key.bytes, length: length)
    }

    /// Reads strings of the form `key=value`. Of several with one key the first counts.
    ///
    /// - Returns: nil if a length leads beyond the end.
    private static func values(_ text: [UInt8]) -> [String: String]? {
        var values: [String: String] = [:]
        var rest = text[...]
        while let length = rest.popFirst() {
            guard rest.count >= length else { return nil }
            let string = String(decoding: rest.prefix(Int(length)), as: UTF8.self)
            rest = rest.dropFirst(Int(length))
            guard let equals = string.firstIndex(of: "=") else { continue }
            let key = string[..<equals].lowercased()
            if values[key] == nil { values[key] = String(string[string.index(after: equals)...]) }
        }
        return values
    }
}
