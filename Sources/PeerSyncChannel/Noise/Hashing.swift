import CSodium

/// SHA-256, and the HMAC and HKDF that Noise builds on it (Noise rev 34 §4.3, §12.5).
enum SHA256 {
    /// The length of a hash in bytes: Noise's HASHLEN.
    static let byteCount = 32

    /// Returns the hash of the concatenation of `first` and `second`.
    static func hash(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        Sodium.start()
        var state = crypto_hash_sha256_state()
        crypto_hash_sha256_init(&state)
        crypto_hash_sha256_update(&state, first, UInt64(first.count))
        crypto_hash_sha256_update(&state, second, UInt64(second.count))
        var result = [UInt8](repeating: 0, count: byteCount)
        crypto_hash_sha256_final(&state, &result)
        return result
    }

    /// Returns the two outputs of Noise's HKDF, 32 bytes each: HKDF of RFC 5869 with the chaining key as the salt and
    /// no info.
    static func deriveTwo(
        chainingKey: SecretBytes, inputKeyMaterial: SecretBytes
    ) -> (SecretBytes, SecretBytes) {
        let temporaryKey = authenticate(key: chainingKey, inputKeyMaterial)
        let first = authenticate(key: temporaryKey, SecretBytes(copying: [0x01]))
        let second = authenticate(key: temporaryKey, first, SecretBytes(copying: [0x02]))
        return (first, second)
    }

    /// Returns HMAC-SHA-256 over the concatenation of `parts`, all of them secret.
    private static func authenticate(key: SecretBytes, _ parts: SecretBytes...) -> SecretBytes {
        SecretBytes(count: byteCount) { output in
            var state = crypto_auth_hmacsha256_state()
            _ = key.withBytePointer { crypto_auth_hmacsha256_init(&state, $0, key.count) }
            for part in parts {
                _ = part.withBytePointer { crypto_auth_hmacsha256_update(&state, $0, UInt64(part.count)) }
            }
            // This also erases the traces of the key in the state.
            crypto_auth_hmacsha256_final(&state, output)
        }
    }
}

/// SHA-512 over public and secret parts, as CPace uses it, and its HMAC.
///
/// It cannot be copied, because copies of its state would outlive the secrets that it has hashed.
struct SHA512: ~Copyable {
    /// The length of a hash in bytes.
    static let byteCount = 64
    /// The input block size in bytes: CPace's `s_in_bytes`.
    static let blockByteCount = 128

    private var state = crypto_hash_sha512_state()

    init() {
        Sodium.start()
        crypto_hash_sha512_init(&state)
    }

    mutating func update(_ bytes: [UInt8]) {
        crypto_hash_sha512_update(&state, bytes, UInt64(bytes.count))
    }

    mutating func update(_ secret: SecretBytes) {
        _ = secret.withBytePointer { crypto_hash_sha512_update(&state, $0, UInt64(secret.count)) }
    }

    /// Returns the hash of all input, and erases the state.
    consuming func finalize() -> SecretBytes {
        SecretBytes(count: Self.byteCount) { output in
            crypto_hash_sha512_final(&state, output)
        }
    }

    /// Returns HMAC-SHA-512 over public bytes.
    static func authenticate(key: SecretBytes, _ bytes: [UInt8]) -> SecretBytes {
        SecretBytes(count: byteCount) { output in
            var state = crypto_auth_hmacsha512_state()
            _ = key.withBytePointer { crypto_auth_hmacsha512_init(&state, $0, key.count) }
            crypto_auth_hmacsha512_update(&state, bytes, UInt64(bytes.count))
            crypto_auth_hmacsha512_final(&state, output)
        }
    }
}
