/// The result of a finished handshake: one cipher for each direction, and the identity of the other end.
package struct TransportCiphers: Sendable {
    /// Encrypts what this side sends.
    package var send: SendingCipher
    /// Decrypts what this side receives.
    package var receive: ReceivingCipher
    /// The 32 bytes that name this session, the same on both sides; the session id of a pairing.
    package let handshakeHash: [UInt8]
    /// The static key of the machine at the other end.
    package let remoteStatic: PublicKey
}

/// The rule by which both sides replace a direction's key without a message about it.
package enum RekeyRule {
    /// The number of messages in one direction after which both sides replace its key: 65,536, at most 4 GiB.
    ///
    /// This is part of the protocol. When a message brings the direction's nonce to a multiple of this number, each
    /// side replaces k by REKEY(k): the sender after encrypting the message, the receiver after decrypting it (Noise
    /// rev 34 §11.3). Neither resets the nonce.
    package static let interval: UInt64 = 65_536
}

extension CipherState {
    fileprivate mutating func rekeyIfDue() {
        if nonce.isMultiple(of: RekeyRule.interval) {
            rekey()
        }
    }
}

/// The sending half of a channel: turns plaintexts into Noise transport messages (Noise rev 34 §5.1, §11.3).
///
/// Messages must reach the other side in the order of sealing, each once. Callers must not copy the struct: two copies
/// would use the same nonces, which gives the plaintexts away.
package struct SendingCipher: Sendable {
    private var cipher: CipherState

    /// Makes the half from its 32-byte key.
    ///
    /// - Parameters:
    ///   - key: The key from the handshake.
    ///   - startNonce: The number of the first message. For tests that need a far point of the count.
    package init(key: SecretBytes, startNonce: UInt64 = 0) {
        cipher = CipherState(key: key, nonce: startNonce)
    }

    /// The number of the next message, counted from 0.
    package var nonce: UInt64 { cipher.nonce }

    /// Encrypts `plaintext` into `output` and returns how many bytes it wrote: `plaintext.count + 16`.
    ///
    /// - Parameters:
    ///   - plaintext: At most 65,519 bytes. May begin at the same address as `output`, which encrypts in
    ///     place, but must not overlap it in any other way.
    ///   - output: At least `plaintext.count + 16` bytes; less is a programming error and stops the process.
    /// - Throws: ``SecureChannelError`` with `messageTooLong`, or `nonceExhausted` before message 2^64 - 1.
    ///   Both write nothing and use no nonce.
    package mutating func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        guard plaintext.count <= NoiseLimits.maximumPlaintextLength else {
            throw SecureChannelError.messageTooLong
        }
        let count = try cipher.encrypt(plaintext, into: output)
        cipher.rekeyIfDue()
        return count
    }

    /// Encrypts `plaintext` and returns the message; for places where a copy does not matter.
    ///
    /// - Throws: As ``seal(_:into:)``.
    package mutating func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: plaintext.count + NoiseLimits.tagLength) { buffer, count in
            count = try plaintext.withUnsafeBytes {
                try seal($0, into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }
}

/// The receiving half of a channel: turns Noise transport messages back into plaintexts.
///
/// The first message that does not open ends it: the cipher erases the key, and every later ``open(_:into:)`` throws
/// `wrongState`. After one change, nothing in the stream can be trusted.
package struct ReceivingCipher: Sendable {
    /// Nil after the first failure.
    private var cipher: CipherState?

    /// Makes the half from its 32-byte key.
    ///
    /// - Parameters:
    ///   - key: The key from the handshake.
    ///   - startNonce: The number of the first message. For tests that need a far point of the count.
    package init(key: SecretBytes, startNonce: UInt64 = 0) {
        cipher = CipherState(key: key, nonce: startNonce)
    }

    /// The number of the next message, counted from 0; nil after a failure.
    package var nonce: UInt64? { cipher?.nonce }

    /// Decrypts `message` into `output` and returns how many bytes it wrote: `message.count - 16`.
    ///
    /// - Parameters:
    ///   - message: The whole message with its tag, at most 65,535 bytes. May begin at the same address as
    ///     `output`, which decrypts in place, but must not overlap it in any other way.
    ///   - output: At least `message.count - 16` bytes; less is a programming error and stops the process.
    ///     After an error it holds nothing of the plaintext.
    /// - Throws: ``SecureChannelError`` with `authenticationFailed`, `malformedMessage` for a message shorter
    ///   than its tag, `messageTooLong`, `nonceExhausted`; after any of them `wrongState`.
    package mutating func open(
        _ message: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        guard var current = cipher else {
            throw SecureChannelError.wrongState("Decrypting a message")
        }
        cipher = nil
        guard message.count <= NoiseLimits.maximumMessageLength else {
            throw SecureChannelError.messageTooLong
        }
        let count = try current.decrypt(message, into: output)
        current.rekeyIfDue()
        cipher = current
        return count
    }

    /// Decrypts `message` and returns the plaintext; for places where a copy does not matter.
    ///
    /// - Throws: As ``open(_:into:)``.
    package mutating func open(_ message: [UInt8]) throws -> [UInt8] {
        let capacity = max(0, message.count - NoiseLimits.tagLength)
        return try [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = try message.withUnsafeBytes { try open($0, into: UnsafeMutableRawBufferPointer(buffer)) }
        }
    }
}
