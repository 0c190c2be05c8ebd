/// The statement of a machine that it has paired with another one, and that the whole household should accept it.
/// Protocol/ "The household" is normative.
///
/// Nothing in an introduction ever changes, and its ``id`` is a hash of everything in it. So nobody can put another one in
/// the place of one that is known.
package struct Introduction: Sendable {
    /// The hash that tells introductions apart.
    package struct ID: Sendable, Hashable, Comparable {
        package let bytes: [UInt8]

        package static let length = 32

        /// - Returns: nil unless there are 32 bytes.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count == Self.length else { return nil }
            self.bytes = bytes
        }

        package static func < (left: ID, right: ID) -> Bool {
            left.bytes.lexicographicallyPrecedes(right.bytes)
        }
    }

    /// What the introduced machine gets of the default zone.
    package enum Rights: UInt8, Sendable, CaseIterable {
        case read = 1
        /// It may read and write, and takes part in the household.
        case all = 2
    }

    /// Bytes of the random number that makes each introduction another one.
    package static let nonceLength = 16
    /// Bytes of a static key.
    package static let keyLength = 32
    /// The longest name, in bytes of UTF-8.
    package static let maximumName = 64

    package let id: ID
    package let nonce: [UInt8]
    /// The static key of the machine that is introduced.
    package let key: [UInt8]
    /// What the machine called itself; nothing in it can steer a terminal.
    package let name: String
    package let rights: Rights
    /// The static key of the machine that introduces it. A member may lie about it.
    package let introducer: [UInt8]
    /// When, in milliseconds since 1970, by the introducer's clock.
    package let time: Int64

    /// Makes an introduction of its parts.
    ///
    /// - Returns: nil when a part breaks its bound, or a machine introduces itself.
    package init?(
        nonce: [UInt8], key: [UInt8], name: String, rights: Rights, introducer: [UInt8], time: Int64
    ) {
        guard nonce.count == Self.nonceLength, key.count == Self.keyLength,
            introducer.count == Self.keyLength, key != introducer, Self.isName(name),
            time >= 0, UInt64(time) <= VariableLengthInteger.maximum
        else { return nil }
        self.nonce = nonce
        self.key = key
        self.name = name
        self.rights = rights
        self.introducer = introducer
        self.time = time
        let encoded = Self.encoded(nonce, key, name, rights, introducer, time)
        id = ID(BLAKE2b.hash(Array("introduction".utf8) + encoded, length: ID.length))!
    }

    /// Makes a new introduction of a machine.
    ///
    /// - Parameters:
    ///   - name: what the machine calls itself; cut at the end of a character if it is too long.
    ///   - time: milliseconds since 1970.
    /// - Returns: nil when a machine introduces itself, or a key has another length.
    package init?(of key: [UInt8], name: String, rights: Rights, by introducer: [UInt8], time: Int64) {
        var clean = String(
            String.UnicodeScalarView(name.unicodeScalars.map { Self.isPlain($0) ? $0 : " " }))
        while clean.utf8.count > Self.maximumName { clean.removeLast() }
        self.init(
            nonce: (0..<Self.nonceLength).map { _ in UInt8.random(in: 0...255) }, key: key,
            name: clean.isEmpty ? "unnamed" : clean, rights: rights, introducer: introducer,
            time: max(0, time))
    }

    private static func isName(_ text: String) -> Bool {
        (1...maximumName).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(isPlain)
    }

    /// Whether a character neither controls a terminal nor turns the direction of a line. A fixed list, because all
    /// machines have to take the same names.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// The canonical encoding.
    package var encoded: [UInt8] { Self.encoded(nonce, key, name, rights, introducer, time) }

    private static func encoded(
        _ nonce: [UInt8], _ key: [UInt8], _ name: String, _ rights: Rights, _ introducer: [UInt8],
        _ time: Int64
    ) -> [UInt8] {
        var bytes = nonce + key
        bytes.append(counted: name.utf8)
        bytes.append(rights.rawValue)
        bytes += introducer
        VariableLengthInteger.append(UInt64(time), to: &bytes)
        return bytes
    }
}

extension Introduction: Hashable {
    // Not by the parts: Swift takes texts for equal that differ in their bytes.
    package static func == (left: Introduction, right: Introduction) -> Bool { left.id == right.id }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
