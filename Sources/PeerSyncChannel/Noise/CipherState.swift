import CSodium

/// The sizes that Noise fixes (Noise rev 34 §3, §12.3).
package enum NoiseLimits {
    /// The greatest length of any Noise message in bytes, authentication tag included.
    package static let maximumMessageLength = 65_535
    /// The length in bytes of the authentication tag that every encryption appends.
    package static let tagLength = 16
    /// The greatest length in bytes of the plaintext of one transport message.
    package static let maximumPlaintextLength = maximumMessageLength - tagLength
}

/// A ChaCha20-Poly1305 key and the number of messages it has been used for (Noise rev 34 §5.1, §12.3).
///
/// Invariant: a cipher never uses a nonce twice with one key. The nonce grows only with a success, so that a forged
/// message does not move it. A copy of this struct would start a second count under the same key, so its owners keep
/// exactly one.
struct CipherState: Sendable {
    /// The number of the next message. No message uses 2^64 - 1, which Noise reserves for REKEY.
    private(set) var nonce: UInt64

    private var key: SecretBytes

    /// Makes a cipher from a 32-byte key.
    ///
    /// - Parameters:
    ///   - key: The key; it must have 32 bytes.
    ///   - nonce: The number of the first message, other than 0 in tests only.
    init(key: SecretBytes, nonce: UInt64 = 0) {
        precondition(key.count == Int(crypto_aead_chacha20poly1305_ietf_KEYBYTES))
        self.key = key
        self.nonce = nonce
    }

    /// Encrypts `plaintext` into `output` and returns the number of bytes written: `plaintext.count + 16`.
    ///
    /// - Parameters:
    ///   - plaintext: May start at the same address as `output`, but not overlap it otherwise.
    ///   - associatedData: Authenticated together with the plaintext, not sent.
    ///   - output: Room for at least `plaintext.count + 16` bytes.
    /// - Throws: ``SecureChannelError`` with `nonceExhausted`; then it has written nothing.
    mutating func encrypt(
        _ plaintext: UnsafeRawBufferPointer,
        associatedData: [UInt8] = [],
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        guard output.count >= plaintext.count + NoiseLimits.tagLength, let start = output.baseAddress else {
            preconditionFailure("no room for the ciphertext")
        }
        guard nonce < .max else { throw SecureChannelError.nonceExhausted }
        Self.encrypt(
            plaintext, key: key, nonce: nonce, associatedData: associatedData,
            into: start.assumingMemoryBound(to: UInt8.self))
        nonce += 1
        return plaintext.count + NoiseLimits.tagLength
    }

    /// Decrypts `ciphertext` into `output` and returns the number of bytes written: `ciphertext.count - 16`.
    ///
    /// - Parameters:
    ///   - ciphertext: The ciphertext and its tag; may start at the same address as `output`.
    ///   - associatedData: The bytes authenticated together with the plaintext.
    ///   - output: Room for at least `ciphertext.count - 16` bytes. After an error it holds no plaintext.
    /// - Throws: ``SecureChannelError`` with `malformedMessage` if there is no room for a tag,
    ///   `nonceExhausted` or `authenticationFailed`. The nonce stays as it was.
    mutating func decrypt(
        _ ciphertext: UnsafeRawBufferPointer,
        associatedData: [UInt8] = [],
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        let plaintextLength = ciphertext.count - NoiseLimits.tagLength
        guard plaintextLength >= 0, let start = ciphertext.baseAddress else {
            throw SecureChannelError(
                .malformedMessage, "An encrypted message is too short to hold its authentication tag.")
        }
        precondition(output.count >= plaintextLength, "no room for the plaintext")
        guard nonce < .max else { throw SecureChannelError.nonceExhausted }
        let status = key.withBytePointer { key in
            Self.withNonceBytes(nonce) { nonceBytes in
                crypto_aead_chacha20poly1305_ietf_decrypt(
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, nil,
                    start.assumingMemoryBound(to: UInt8.self), UInt64(ciphertext.count),
                    associatedData, UInt64(associatedData.count), nonceBytes, key)
            }
        }
        guard status == 0 else { throw SecureChannelError.authenticationFailed }
        nonce += 1
        return plaintextLength
    }

    /// Replaces the key by one that does not reveal the old key. The nonce goes on (Noise rev 34 §4.2, §11.3).
    mutating func rekey() {
        let zeros = [UInt8](repeating: 0, count: key.count)
        key = SecretBytes(count: key.count) { newKey in
            // REKEY keeps the first 32 bytes of the 48 that the encryption gives.
            let encrypted = SecretBytes(count: zeros.count + NoiseLimits.tagLength) { output in
                zeros.withUnsafeBytes {
                    Self.encrypt($0, key: key, nonce: .max, associatedData: [], into: output)
                }
            }
            encrypted.withBytePointer { newKey.update(from: $0, count: zeros.count) }
        }
    }

    private static func encrypt(
        _ plaintext: UnsafeRawBufferPointer,
        key: SecretBytes,
        nonce: UInt64,
        associatedData: [UInt8],
        into output: UnsafeMutablePointer<UInt8>
    ) {
        // The call fails only for plaintexts of 2^38 bytes, which callers rule out.
        _ = key.withBytePointer { key in
            withNonceBytes(nonce) { nonceBytes in
                crypto_aead_chacha20poly1305_ietf_encrypt(
                    output, nil,
                    plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(plaintext.count),
                    associatedData, UInt64(associatedData.count), nil, nonceBytes, key)
            }
        }
    }

    /// Calls `body` with the 96-bit nonce: 32 bits of zeros, then the 64-bit number, little-endian.
    private static func withNonceBytes<Result>(
        _ nonce: UInt64, _ body: (UnsafePointer<UInt8>) -> Result
    ) -> Result {
        // Three words of one type lie without gaps; a UInt32 and a UInt64 would have four bytes in between.
        let words = (
            UInt32(0), UInt32(truncatingIfNeeded: nonce).littleEndian,
            UInt32(truncatingIfNeeded: nonce >> 32).littleEndian
        )
        return Swift.withUnsafeBytes(of: words) { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("a value has no address") }
            return body(base.assumingMemoryBound(to: UInt8.self))
        }
    }
}
