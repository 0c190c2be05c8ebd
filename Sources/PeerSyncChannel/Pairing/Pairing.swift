/// The values that both sides of a pairing must agree on, each from its own knowledge.
///
/// None of them comes from the wire. If associated data did, an attacker could send back everything that he gets, and
/// the tags would match.
private struct PairingContext: Sendable {
    static let label = Array("scorebook-peer pairing v1".utf8)

    let sessionIdentifier: [UInt8]
    let channelIdentifier: [UInt8]
    let initiatorData: [UInt8]
    let responderData: [UInt8]

    init(handshakeHash: [UInt8], initiatorStatic: PublicKey, responderStatic: PublicKey) {
        sessionIdentifier = handshakeHash
        channelIdentifier = Self.label + initiatorStatic.bytes + responderStatic.bytes
        initiatorData = Array("initiator".utf8) + initiatorStatic.bytes
        responderData = Array("responder".utf8) + responderStatic.bytes
    }

    /// Returns the share that hides `scalar`.
    func makeShare(code: PairingCode, scalar: SecretBytes) throws -> [UInt8] {
        let generator = CPace.calculateGenerator(
            passwordRelatedString: code.digits, channelIdentifier: channelIdentifier,
            sessionIdentifier: sessionIdentifier)
        return try CPace.share(scalar: scalar, generator: generator)
    }

    /// Returns the tags that the initiator and the responder must send if both know the code.
    func confirmationTags(
        scalar: SecretBytes, remoteShare: [UInt8], initiatorShare: [UInt8], responderShare: [UInt8]
    ) throws -> (initiator: SecretBytes, responder: SecretBytes) {
        guard initiatorShare != responderShare else {
            throw SecureChannelError(
                .reflectedShare, "The pairing share came back to where it was made.")
        }
        let initiator = CPace.Message(share: initiatorShare, associatedData: initiatorData)
        let responder = CPace.Message(share: responderShare, associatedData: responderData)
        let sessionKey = CPace.intermediateSessionKey(
            sessionIdentifier: sessionIdentifier,
            sharedPoint: try CPace.sharedPoint(scalar: scalar, remoteShare: remoteShare),
            initiator: initiator, responder: responder)
        let key = CPace.confirmationKey(
            sessionIdentifier: sessionIdentifier, intermediateSessionKey: sessionKey)
        return (
            CPace.confirmationTag(key: key, for: initiator), CPace.confirmationTag(key: key, for: responder)
        )
    }

    static func check(_ tag: [UInt8], is expected: SecretBytes) throws {
        guard expected.matches(tag) else {
            throw SecureChannelError(
                .confirmationFailed, "The pairing code is wrong, or another machine sits in between.")
        }
    }
}

/// The side of a pairing on which a person types the code; it runs inside a finished Noise channel.
///
/// Steps: ``start()`` returns the share to send, ``receive(share:)`` takes the responder's share and returns the tag
/// to send, ``verify(tag:)`` takes the responder's tag. When that returns, both sides know that the other knows the
/// code, and that no machine sits in between. Then the caller may store the static key at the other end.
///
/// This side sends its tag first. So the other side, which shows the code, sees each wrong guess, and can count it,
/// before it gives away anything that depends on the code.
///
/// Any error ends the pairing: each later call throws `wrongState`. The caller decides how many attempts a code
/// allows, and for how long.
package struct PairingInitiator: Sendable {
    private enum State {
        case ready(PairingCode, scalar: SecretBytes)
        case awaitingShare(scalar: SecretBytes, share: [UInt8])
        case awaitingTag(expected: SecretBytes)
        case confirmed
        case failed
    }

    private let context: PairingContext
    private var state: State

    /// Makes the initiator of one pairing.
    ///
    /// - Parameters:
    ///   - code: The code as typed.
    ///   - handshakeHash: The Noise channel's handshake hash, which becomes CPace's session identifier.
    ///   - initiatorStatic: The static key of this machine.
    ///   - responderStatic: The static key at the other end of the channel.
    ///   - scalar: For test vectors only. Without it, each pairing makes a new random scalar, as it must.
    package init(
        code: PairingCode, handshakeHash: [UInt8], initiatorStatic: PublicKey, responderStatic: PublicKey,
        scalar: SecretBytes? = nil
    ) {
        context = PairingContext(
            handshakeHash: handshakeHash, initiatorStatic: initiatorStatic, responderStatic: responderStatic)
        state = .ready(code, scalar: scalar ?? CPace.sampleScalar())
    }

    /// Whether the other side has proved that it knows the code.
    package var isConfirmed: Bool {
        if case .confirmed = state { true } else { false }
    }

    /// Returns this side's share, 32 bytes, to send.
    ///
    /// - Throws: ``SecureChannelError`` with `wrongState` if this is not the first step.
    package mutating func start() throws -> [UInt8] {
        let current = state
        state = .failed
        guard case .ready(let code, let scalar) = current else {
            throw SecureChannelError.wrongState("Starting the pairing")
        }
        let share = try context.makeShare(code: code, scalar: scalar)
        state = .awaitingShare(scalar: scalar, share: share)
        return share
    }

    /// Takes the responder's share and returns this side's tag, 64 bytes, to send.
    ///
    /// - Throws: ``SecureChannelError`` with `reflectedShare` if the share is this side's own,
    ///   `malformedMessage` or `lowOrderPoint` if it is not valid, `wrongState` if this is not the second step.
    package mutating func receive(share remoteShare: [UInt8]) throws -> [UInt8] {
        let current = state
        state = .failed
        guard case .awaitingShare(let scalar, let share) = current else {
            throw SecureChannelError.wrongState("Receiving a pairing share")
        }
        let tags = try context.confirmationTags(
            scalar: scalar, remoteShare: remoteShare, initiatorShare: share, responderShare: remoteShare)
        state = .awaitingTag(expected: tags.responder)
        return tags.initiator.withUnsafeBytes { Array($0) }
    }

    /// Takes the responder's tag; when it returns, the pairing is confirmed.
    ///
    /// - Throws: ``SecureChannelError`` with `confirmationFailed` if the tag does not match the code, `wrongState` if
    ///   this is not the third step.
    package mutating func verify(tag: [UInt8]) throws {
        let current = state
        state = .failed
        guard case .awaitingTag(let expected) = current else {
            throw SecureChannelError.wrongState("Verifying a pairing tag")
        }
        try PairingContext.check(tag, is: expected)
        state = .confirmed
    }
}

/// The side of a pairing that shows the code; the counterpart of ``PairingInitiator``.
///
/// Steps: ``receive(share:)`` takes the initiator's share and returns the share to send, ``verify(tag:)`` takes the
/// initiator's tag and returns the tag to send. When that returns, the other side has proved that it knows the code.
/// Each received share uses up an attempt, even if no tag follows.
package struct PairingResponder: Sendable {
    private enum State {
        case ready(PairingCode, scalar: SecretBytes)
        case awaitingTag(expected: SecretBytes, own: SecretBytes)
        case confirmed
        case failed
    }

    private let context: PairingContext
    private var state: State

    /// Makes the responder of one pairing.
    ///
    /// - Parameters:
    ///   - code: The code as shown.
    ///   - handshakeHash: The Noise channel's handshake hash, which becomes CPace's session identifier.
    ///   - initiatorStatic: The static key at the other end of the channel.
    ///   - responderStatic: The static key of this machine.
    ///   - scalar: For test vectors only. Without it, each pairing makes a new random scalar, as it must.
    package init(
        code: PairingCode, handshakeHash: [UInt8], initiatorStatic: PublicKey, responderStatic: PublicKey,
        scalar: SecretBytes? = nil
    ) {
        context = PairingContext(
            handshakeHash: handshakeHash, initiatorStatic: initiatorStatic, responderStatic: responderStatic)
        state = .ready(code, scalar: scalar ?? CPace.sampleScalar())
    }

    /// Whether the other side has proved that it knows the code.
    package var isConfirmed: Bool {
        if case .confirmed = state { true } else { false }
    }

    /// Takes the initiator's share and returns this side's share, 32 bytes, to send.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedMessage`, `lowOrderPoint` or `reflectedShare` for a
    ///   bad share, `wrongState` if this is not the first step.
    package mutating func receive(share remoteShare: [UInt8]) throws -> [UInt8] {
        let current = state
        state = .failed
        guard case .ready(let code, let scalar) = current else {
            throw SecureChannelError.wrongState("Receiving a pairing share")
        }
        let share = try context.makeShare(code: code, scalar: scalar)
        let tags = try context.confirmationTags(
            scalar: scalar, remoteShare: remoteShare, initiatorShare: remoteShare, responderShare: share)
        state = .awaitingTag(expected: tags.initiator, own: tags.responder)
        return share
    }

    /// Takes the initiator's tag and returns this side's tag, 64 bytes, to send.
    ///
    /// - Throws: ``SecureChannelError`` with `confirmationFailed` if the tag does not match the code, `wrongState` if
    ///   this is not the second step.
    package mutating func verify(tag: [UInt8]) throws -> [UInt8] {
        let current = state
        state = .failed
        guard case .awaitingTag(let expected, let own) = current else {
            throw SecureChannelError.wrongState("Verifying a pairing tag")
        }
        try PairingContext.check(tag, is: expected)
        state = .confirmed
        return own.withUnsafeBytes { Array($0) }
    }
}
