import NIOCore
import PeerSyncChannel
import PeerSyncProtocol

extension VectorFile {
    /// Whole pairings, and messages that end one.
    static func pairing() throws -> VectorFile {
        let handshake = try VectorHandshake()
        return VectorFile(
            "pairing-transcripts.json",
            "Pairings in the session of handshake.json: the messages with their length in front, in the order in "
                + "which they are sent, each by the side that `from` names. `error` is the code of the error that a "
                + "side sends in place of a message; `closes` says that it closes without one. The values inside "
                + "are those of pairing.json with another session.",
            section: "4",
            [
                ("handshakeHash", .hex(handshake.caller.handshakeHash)),
                ("callerStatic", .hex(VectorKeys.caller.publicKey.bytes)),
                ("listenerStatic", .hex(VectorKeys.listener.publicKey.bytes)),
                ("callerScalar", .hex(callerScalar)), ("listenerScalar", .hex(listenerScalar)),
                ("callerName", "kitchen"), ("listenerName", "attic"),
                (
                    "transcripts",
                    [
                        try transcript(handshake, shown: "042-917", typed: "042-917"),
                        try transcript(handshake, shown: "042-917", typed: "042-918"),
                    ]
                ),
                (
                    "badShares",
                    .array(
                        try badShares(handshake).map { why, share in
                            [
                                "why": .string(why), "share": .hex(share),
                                "toTheListener": ["error": "6"], "toTheCaller": "closes",
                            ]
                        })
                ),
                (
                    "badTags",
                    .array(
                        try badTags(handshake).map { why, tag, receiver, error in
                            [
                                "why": .string(why), "to": .string(receiver), "tag": .hex(tag),
                                "error": .string(error),
                            ]
                        })
                ),
            ])
    }

    // Any number below the order of the group will do.
    private static let callerScalar = [UInt8](repeating: 0x61, count: 31) + [0x01]
    private static let listenerScalar = [UInt8](repeating: 0x62, count: 31) + [0x02]

    private static func initiator(_ handshake: VectorHandshake, _ code: String) throws -> PairingInitiator {
        PairingInitiator(
            code: try PairingCode(code), handshakeHash: handshake.caller.handshakeHash,
            initiatorStatic: VectorKeys.caller.publicKey, responderStatic: VectorKeys.listener.publicKey,
            scalar: SecretBytes(copying: callerScalar))
    }

    private static func responder(_ handshake: VectorHandshake, _ code: String) throws -> PairingResponder {
        PairingResponder(
            code: try PairingCode(code), handshakeHash: handshake.listener.handshakeHash,
            initiatorStatic: VectorKeys.caller.publicKey, responderStatic: VectorKeys.listener.publicKey,
            scalar: SecretBytes(copying: listenerScalar))
    }

    private static func transcript(_ handshake: VectorHandshake, shown: String, typed: String) throws -> JSON
    {
        var caller = try initiator(handshake, typed)
        var listener = try responder(handshake, shown)
        let first = try caller.start()
        let second = try listener.receive(share: first)
        let third = try caller.receive(share: second)
        var steps: [JSON] = [
            step("caller", .pairingShare(first)), step("listener", .pairingShare(second)),
            step("caller", tagged(third, "kitchen")),
        ]
        do {
            steps.append(step("listener", tagged(try listener.verify(tag: third), "attic")))
        } catch let error as SecureChannelError where error.code == .confirmationFailed {
            steps.append(["from": "listener", "error": "6"])
        }
        return ["shown": .string(shown), "typed": .string(typed), "steps": .array(steps)]
    }

    private static func tagged(_ tag: [UInt8], _ name: String) -> Message {
        .pairingTag(Message.PairingTag(tag: tag, displayName: name))
    }

    private static func step(_ from: String, _ message: Message) -> JSON {
        ["from": .string(from), "message": .hex(message.encoded)]
    }

    private static func badShares(_ handshake: VectorHandshake) throws -> [(String, [UInt8])] {
        let shares: [(String, [UInt8])] = [
            ("the neutral element", [UInt8](repeating: 0, count: 32)),
            ("not less than the prime", [UInt8](repeating: 0xFF, count: 32)),
            ("negative", [1] + [UInt8](repeating: 0, count: 31)),
            ("no element of the group", [2] + [UInt8](repeating: 0, count: 31)),
        ]
        for (why, share) in shares {
            var listener = try responder(handshake, "042-917")
            precondition((try? listener.receive(share: share)) == nil, "\(why) was taken")
        }
        return shares
    }

    /// Tags of the transcript with the right code, in places where they do not belong.
    private static func badTags(_ handshake: VectorHandshake) throws
        -> [(String, [UInt8], receiver: String, error: String)]
    {
        var caller = try initiator(handshake, "042-917")
        var listener = try responder(handshake, "042-917")
        let callerTag = try caller.receive(share: try listener.receive(share: try caller.start()))
        let listenerTag = try listener.verify(tag: callerTag)
        var changed = callerTag
        changed[63] ^= 0x80
        return [
            ("one bit was changed", changed, "listener", "6"),
            ("its own tag comes back", callerTag, "caller", "6"),
            ("the listener's tag comes from the caller", listenerTag, "listener", "6"),
            ("zeros", [UInt8](repeating: 0, count: 64), "listener", "6"),
        ]
    }
}
