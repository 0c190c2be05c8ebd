import Foundation
import GRDB
import PeerSyncModel

extension UUID {
    /// Derives a key from values, so that all machines give the same key to a row with these values, also while they are
    /// offline. Two of them that both insert the tag `work` then have one record:
    ///
    /// ```swift
    /// try Tag(id: UUID(derivedFrom: "work"), name: "work").insert(db, onConflict: .ignore)
    /// ```
    ///
    /// Pass the values as the columns store them, in the order that ``KeyMigration/deriveKey(_:in:from:as:keepsUnique:)`` got:
    /// the text `1` and the number 1 lead to different keys, and so do `Work` and `work`.
    ///
    /// It is a UUID of version 8 (RFC 9562, section 5.8) that is made as the RFC makes one from a name (appendix B.2), with
    /// the 16 bytes of BLAKE2b as the hash, in the namespace `cc5f3f0e-98b0-4d0c-9d0e-0b8a4f5d1c37`. The name has one part for
    /// each value; numbers have their highest byte first:
    ///
    /// - an integer: `i`, and 8 bytes of two's complement;
    /// - a real number: `r`, and 8 bytes of IEEE 754; −0 stands as 0;
    /// - a text: `t`, the length of its UTF-8 in 8 bytes, and the UTF-8, which is not normalized;
    /// - a BLOB: `b`, its length in 8 bytes, and its bytes; GRDB stores a `UUID` so, unless you tell it otherwise;
    /// - NULL: `n`.
    public init(derivedFrom values: (any DatabaseValueConvertible)?...) {
        self.init(derivedFrom: values.map { $0?.databaseValue ?? .null })
    }

    init(derivedFrom values: [DatabaseValue]) {
        let namespace = UUID(uuidString: "cc5f3f0e-98b0-4d0c-9d0e-0b8a4f5d1c37")!
        let name = values.flatMap(\.derivationBytes)
        var bytes = BLAKE2b.hash(withUnsafeBytes(of: namespace.uuid, Array.init) + name, length: 16)
        // The version and the variant.
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}

extension DatabaseValue {
    /// See `UUID.init(derivedFrom:)`.
    fileprivate var derivationBytes: [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian, Array.init)
        }
        func part(_ kind: Character, _ content: some Collection<UInt8>) -> [UInt8] {
            [kind.asciiValue!] + bytes(Int64(content.count)) + content
        }
        return switch storage {
        case .null: [UInt8(ascii: "n")]
        case .int64(let value): [UInt8(ascii: "i")] + bytes(value)
        case .double(let value): [UInt8(ascii: "r")] + bytes((value == 0 ? 0 : value).bitPattern)
        case .string(let text): part("t", text.utf8)
        case .blob(let data): part("b", data)
        }
    }
}
