import CSodium

/// The public half of a machine's X25519 key, by which other machines know it.
///
/// A peer's static public key is its identity; names and addresses are only hints. Keys are ordered by their
/// bytes, so that two machines that compare their keys come to one result.
public struct PublicKey: Hashable, Sendable {
    /// The length of a public key in bytes.
    public static let byteCount = 32

    /// The 32 bytes as they travel: the u-coordinate, little-endian (RFC 7748 §5).
    public let bytes: [UInt8]

    /// Makes a key from its 32 bytes.
    ///
    /// Only a Diffie-Hellman exchange finds out whether the bytes are a good key, and refuses bad ones.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedKey` if there are not exactly 32 bytes.
    public init(_ bytes: some Collection<UInt8>) throws {
        guard bytes.count == Self.byteCount else {
            throw SecureChannelError(
                .malformedKey, "A public key has \(Self.byteCount) bytes, not \(bytes.count).")
        }
        self.bytes = Array(bytes)
    }

    /// Makes a key from 64 hexadecimal digits, in upper or lower case, without separators.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedKey` if the text is anything else.
    public init(hex: String) throws {
        let digits = hex.utf8.map(hexadecimalDigit)
        guard digits.count == 2 * Self.byteCount, !digits.contains(nil) else {
            throw SecureChannelError(
                .malformedKey, "A public key is written as \(2 * Self.byteCount) hexadecimal digits.")
        }
        self.bytes = stride(from: 0, to: digits.count, by: 2).map { index in
            (digits[index] ?? 0) << 4 | (digits[index + 1] ?? 0)
        }
    }

    /// The key as 64 lower-case hexadecimal digits.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0f)]] }, as: UTF8.self)
    }
}

/// Returns the value of a hexadecimal digit in ASCII; nil for another character.
func hexadecimalDigit(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension PublicKey: Comparable {
    /// Orders keys by their bytes, the first byte counting most.
    public static func < (left: PublicKey, right: PublicKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension PublicKey: CustomStringConvertible {
    /// The key in hexadecimal.
    public var description: String { hex }
}

/// An X25519 key pair: a machine's static key, or the ephemeral key of one handshake.
package struct KeyPair: Sendable {
    /// The length of a secret key in bytes.
    package static let secretKeyByteCount = 32

    /// The secret key, 32 bytes as given; X25519 itself fixes the bits that it needs fixed (RFC 7748 §5).
    package let secretKey: SecretBytes

    /// The public key that belongs to the secret key.
    package let publicKey: PublicKey

    /// Makes the pair that belongs to a secret key.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedKey` if the secret does not have 32 bytes.
    package init(secretKey: SecretBytes) throws {
        guard secretKey.count == Self.secretKeyByteCount else {
            throw SecureChannelError(
                .malformedKey, "A secret key has \(Self.secretKeyByteCount) bytes, not \(secretKey.count).")
        }
        var publicBytes = [UInt8](repeating: 0, count: PublicKey.byteCount)
        // It fails for no input: the base point has no low order, and the clamped scalar is not zero.
        _ = secretKey.withBytePointer { crypto_scalarmult_curve25519_base(&publicBytes, $0) }
        self.secretKey = secretKey
        self.publicKey = try PublicKey(publicBytes)
    }

    /// Returns a new random pair.
    package static func generate() -> KeyPair {
        do {
            return try KeyPair(secretKey: .random(count: secretKeyByteCount))
        } catch {
            preconditionFailure("a secret key of the right length was refused: \(error)")
        }
    }

    /// Returns the Diffie-Hellman result of this pair's secret key and another's public key (RFC 7748 §6.1).
    ///
    /// - Throws: ``SecureChannelError`` with `lowOrderPoint` if the result is all zeros. Such a public key
    ///   contributes nothing, so that the result is no secret (Noise rev 34 §12.1 leaves the check to us).
    package func sharedSecret(with publicKey: PublicKey) throws -> SecretBytes {
        try SecretBytes(count: Int(crypto_scalarmult_curve25519_BYTES)) { result in
            let status = secretKey.withBytePointer { secret in
                crypto_scalarmult_curve25519(result, secret, publicKey.bytes)
            }
            guard status == 0, sodium_is_zero(result, Int(crypto_scalarmult_curve25519_BYTES)) == 0 else {
                throw SecureChannelError(
                    .lowOrderPoint, "The other side's public key is of low order and gives no secret.")
            }
        }
    }
}
