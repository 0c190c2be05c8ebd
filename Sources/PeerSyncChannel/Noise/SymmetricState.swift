/// Noise's SymmetricState with SHA-256: the hash and the keys of a handshake so far (Noise rev 34 §5.2).
struct SymmetricState: Sendable {
    /// The hash of everything sent and received, Noise's `h`; after the last message the handshake hash.
    private(set) var handshakeHash: [UInt8]

    private var chainingKey: SecretBytes
    /// Nil until the first Diffie-Hellman result; until then payloads travel in the clear.
    private var cipher: CipherState?

    /// Starts with the hash of the protocol name.
    init(protocolName: String) {
        let name = Array(protocolName.utf8)
        // Noise pads a name of up to HASHLEN bytes with zeros, and hashes a longer one.
        handshakeHash =
            name.count <= SHA256.byteCount
            ? name + [UInt8](repeating: 0, count: SHA256.byteCount - name.count)
            : SHA256.hash(name, [])
        chainingKey = SecretBytes(copying: handshakeHash)
    }

    /// Mixes a Diffie-Hellman result into the chaining key, and makes a new key for the encryption from now on.
    mutating func mixKey(_ inputKeyMaterial: SecretBytes) {
        let (newChainingKey, key) = SHA256.deriveTwo(
            chainingKey: chainingKey, inputKeyMaterial: inputKeyMaterial)
        chainingKey = newChainingKey
        cipher = CipherState(key: key)
    }

    /// Mixes public bytes into the handshake hash.
    mutating func mixHash(_ bytes: [UInt8]) {
        handshakeHash = SHA256.hash(handshakeHash, bytes)
    }

    /// Encrypts bytes for the other side, if there is a key yet, and mixes the sent bytes into the hash.
    mutating func encryptAndHash(_ plaintext: [UInt8]) throws -> [UInt8] {
        guard cipher != nil else {
            mixHash(plaintext)
            return plaintext
        }
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count + NoiseLimits.tagLength)
        _ = try plaintext.withUnsafeBytes { input in
            try ciphertext.withUnsafeMutableBytes { output in
                try cipher?.encrypt(input, associatedData: handshakeHash, into: output)
            }
        }
        mixHash(ciphertext)
        return ciphertext
    }

    /// Decrypts bytes from the other side, if there is a key yet, and mixes the received bytes into the hash.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedMessage` or `authenticationFailed`.
    mutating func decryptAndHash(_ ciphertext: [UInt8]) throws -> [UInt8] {
        guard cipher != nil else {
            mixHash(ciphertext)
            return ciphertext
        }
        var plaintext = [UInt8](repeating: 0, count: max(0, ciphertext.count - NoiseLimits.tagLength))
        _ = try ciphertext.withUnsafeBytes { input in
            try plaintext.withUnsafeMutableBytes { output in
                try cipher?.decrypt(input, associatedData: handshakeHash, into: output)
            }
        }
        mixHash(ciphertext)
        return plaintext
    }

    /// Returns the two transport keys: first the initiator's sending key, then the responder's.
    func split() -> (SecretBytes, SecretBytes) {
        SHA256.deriveTwo(chainingKey: chainingKey, inputKeyMaterial: SecretBytes(copying: []))
    }
}
