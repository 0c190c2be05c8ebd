import CSodium

/// The cipher suite CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21, initiator-responder setting.
///
/// CPace is a password-authenticated key exchange: two sides that know the same few digits get a strong key. A run
/// tells an attacker only whether one guess is right. These are its functions, named as in the draft;
/// ``PairingInitiator`` and ``PairingResponder`` keep the order of the steps.
enum CPace {
    /// The length of a public share in bytes.
    static let shareByteCount = 32
    /// The group's domain separation identifier, G.DSI (§8.3).
    static let domainSeparationIdentifier = Array("CPaceRistretto255".utf8)

    /// A public share together with the associated data of its sender.
    struct Message: Sendable {
        let share: [UInt8]
        let associatedData: [UInt8]

        /// `lv_cat(Y, AD)`, the input of a transcript and of a confirmation tag.
        var encoded: [UInt8] { CPace.lvCat(share, associatedData) }
    }

    /// Returns `prepend_len`'s length: LEB128, seven bits a byte, the lowest first (§6.3).
    static func encodedLength(_ length: Int) -> [UInt8] {
        var rest = UInt(length)
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        return bytes
    }

    /// Returns `lv_cat`: the parts one after the other, each after its length (§6.3).
    static func lvCat(_ parts: [UInt8]...) -> [UInt8] {
        parts.flatMap { encodedLength($0.count) + $0 }
    }

    /// Hashes `generator_string(DSI, PRS, CI, sid, s_in_bytes)` (§8.1).
    ///
    /// The zeros fill the first block of the hash. So its time does not reveal the password's length, and an attacker
    /// chooses nothing in the block that holds the password.
    static func generatorHash(
        passwordRelatedString: SecretBytes, channelIdentifier: [UInt8], sessionIdentifier: [UInt8]
    ) -> SecretBytes {
        let encodedDSI = lvCat(domainSeparationIdentifier)
        let passwordLength = encodedLength(passwordRelatedString.count)
        let zeroCount = max(
            0,
            SHA512.blockByteCount - passwordLength.count - passwordRelatedString.count - encodedDSI.count - 1)
        var hash = SHA512()
        hash.update(encodedDSI)
        hash.update(passwordLength)
        hash.update(passwordRelatedString)
        hash.update(lvCat([UInt8](repeating: 0, count: zeroCount), channelIdentifier, sessionIdentifier))
        return hash.finalize()
    }

    /// Returns `calculate_generator`: the secret point for password, channel and session (§8.3).
    static func calculateGenerator(
        passwordRelatedString: SecretBytes, channelIdentifier: [UInt8], sessionIdentifier: [UInt8]
    ) -> SecretBytes {
        let hash = generatorHash(
            passwordRelatedString: passwordRelatedString, channelIdentifier: channelIdentifier,
            sessionIdentifier: sessionIdentifier)
        return SecretBytes(count: Int(crypto_core_ristretto255_BYTES)) { output in
            _ = hash.withBytePointer {
                crypto_core_ristretto255_from_hash(
                    output, $0)
            }
        }
    }

    /// Returns `sample_scalar`: a uniform number from 1 to the group's order less 1, little-endian (§8.3).
    static func sampleScalar() -> SecretBytes {
        SecretBytes(count: Int(crypto_core_ristretto255_SCALARBYTES)) { output in
            crypto_core_ristretto255_scalar_random(output)
        }
    }

    /// Returns the public share of a scalar: `scalar_mult(y, g)`.
    static func share(scalar: SecretBytes, generator: SecretBytes) throws -> [UInt8] {
        let point = try generator.withBytePointer { try multiply(scalar, $0) }
        return point.withUnsafeBytes { Array($0) }
    }

    /// Returns the secret point K of this side's scalar and the other's share: `scalar_mult_vfy(y, Y)`.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedMessage` for a share of the wrong length,
    ///   `lowOrderPoint` for a share that is no point of the group, or leads to the neutral element.
    static func sharedPoint(scalar: SecretBytes, remoteShare: [UInt8]) throws -> SecretBytes {
        guard remoteShare.count == shareByteCount else {
            throw SecureChannelError(
                .malformedMessage, "A pairing share has \(shareByteCount) bytes, not \(remoteShare.count).")
        }
        return try multiply(scalar, remoteShare)
    }

    private static func multiply(_ scalar: SecretBytes, _ point: UnsafePointer<UInt8>) throws -> SecretBytes {
        try SecretBytes(count: Int(crypto_scalarmult_ristretto255_BYTES)) { output in
            // The status covers both an invalid encoding and the neutral element. In libsodium 1.0.18,
            // crypto_core_ristretto255_is_valid_point does not: it accepts the neutral element.
            let status = scalar.withBytePointer {
                crypto_scalarmult_ristretto255(
                    output, $0, point)
            }
            guard status == 0 else {
                throw SecureChannelError(
                    .lowOrderPoint, "The other side's pairing share is not valid.")
            }
        }
    }

    /// Returns `transcript_ir`: both messages, the initiator's first (§6.3).
    static func transcript(initiator: Message, responder: Message) -> [UInt8] {
        initiator.encoded + responder.encoded
    }

    /// Returns the intermediate session key ISK, 64 bytes (§7.2).
    static func intermediateSessionKey(
        sessionIdentifier: [UInt8], sharedPoint: SecretBytes, initiator: Message, responder: Message
    ) -> SecretBytes {
        var hash = SHA512()
        hash.update(lvCat(domainSeparationIdentifier + Array("_ISK".utf8), sessionIdentifier))
        hash.update(encodedLength(sharedPoint.count))
        hash.update(sharedPoint)
        hash.update(transcript(initiator: initiator, responder: responder))
        return hash.finalize()
    }

    /// Returns the key of the confirmation tags, `H("CPaceMac" || sid || ISK)` (§10.4).
    static func confirmationKey(
        sessionIdentifier: [UInt8], intermediateSessionKey: SecretBytes
    ) -> SecretBytes {
        var hash = SHA512()
        hash.update(Array("CPaceMac".utf8) + sessionIdentifier)
        hash.update(intermediateSessionKey)
        return hash.finalize()
    }

    /// Returns the confirmation tag of the side that sent `message`: HMAC-SHA-512 over `lv_cat(Y, AD)` (§10.4).
    static func confirmationTag(key: SecretBytes, for message: Message) -> SecretBytes {
        SHA512.authenticate(key: key, message.encoded)
    }
}
