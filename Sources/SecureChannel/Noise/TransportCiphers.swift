/// What a finished handshake leaves: one cipher for each direction, and who is at the other end.
package struct TransportCiphers: Sendable {
    /// Encrypts what this side sends.
    package var send: SendingCipher
    /// Decrypts what this side receives.
    package var receive: ReceivingCipher
    /// The 32 bytes that name this session, the same on both sides; the session id of a pairing.
    package let handshakeHash: [UInt8]
    /// The static key whose holder is at the other end.
    package let remoteStatic: PublicKey
}

/// The rule by which both sides change a direction's key without a word about it.
package enum RekeyRule {
    /// The number of messages in one direction after which its key is replaced: 65,536, at most 4 GiB.
    ///
    /// Part of the protocol: after a message that brings the direction's nonce to a multiple of this number,
    /// the sender when it has encrypted it, the receiver when it has decrypted it, each puts REKEY(k) in the
    /// place of k (Noise rev 34 §11.3). The nonce is not reset.
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
/// Messages must reach the other side in the order in which they were sealed, each once. The struct can be
/// copied, but must not be: two copies would use the same nonces, which gives the plaintexts away.
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
    ///   Neither writes anything, nor uses up a nonce.
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
/// The first message that does not open ends it: every later ``open(_:into:)`` throws `wrongState`, and the
/// key is erased. A stream that was changed once has no place at which it could be trusted again.
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

    /// The number of the message that is expected next, counted from 0; nil after a failure.
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
