import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

/// The keys of the vectors. Everywhere else keys are random.
package enum VectorKeys {
    /// The app of the vectors is the scorebook.
    package static let app: AppID = "scorebook"
    static let prologue = Preamble.prologue(app)
    package static let caller = pair(0x11)
    package static let callerEphemeral = pair(0x22)
    package static let listener = pair(0x33)
    package static let listenerEphemeral = pair(0x44)

    /// The key of frames.json.
    static let frames = [UInt8](repeating: 0x55, count: 32)

    private static func pair(_ byte: UInt8) -> KeyPair {
        do {
            return try KeyPair(secretKey: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        } catch {
            preconditionFailure("32 bytes are no key: \(error)")
        }
    }
}

/// A handshake with the keys of the vectors, and the ciphers that each side has afterwards.
struct VectorHandshake {
    let messages: [[UInt8]]
    var caller: TransportCiphers
    var listener: TransportCiphers

    private static func caller() -> NoiseHandshake {
        NoiseHandshake(
            role: .initiator, staticKey: VectorKeys.caller, prologue: VectorKeys.prologue,
            ephemeral: VectorKeys.callerEphemeral)
    }

    private static func listener() -> NoiseHandshake {
        NoiseHandshake(
            role: .responder, staticKey: VectorKeys.listener, prologue: VectorKeys.prologue,
            ephemeral: VectorKeys.listenerEphemeral)
    }

    init() throws {
        var caller = Self.caller()
        var listener = Self.listener()
        let first = try caller.writeMessage(payload: Preamble.payload)
        _ = try listener.readMessage(first)
        let second = try listener.writeMessage()
        _ = try caller.readMessage(second)
        let third = try caller.writeMessage()
        _ = try listener.readMessage(third)
        messages = [first, second, third]
        self.caller = try caller.finish()
        self.listener = try listener.finish()
    }
}

extension VectorFile {
    /// A whole handshake as it goes over the wire, and bytes that a side must refuse.
    static func handshake() throws -> VectorFile {
        var handshake = try VectorHandshake()
        let first = handshake.messages[0]
        let hello = Message.ping(Array(1...8)).encoded
        let goodbye = Message.goodbye.encoded
        return VectorFile(
            "handshake.json",
            "A handshake with fixed keys, as frames on the wire, and the first frames after it. `refused` are first "
                + "frames of a caller; `secondFrame` in place of the listener's.",
            section: "2, 3",
            [
                ("prologue", .hex(VectorKeys.prologue)), ("payload", .hex(Preamble.payload)),
                ("caller", keys(VectorKeys.caller, VectorKeys.callerEphemeral)),
                ("listener", keys(VectorKeys.listener, VectorKeys.listenerEphemeral)),
                (
                    "frames",
                    .array(
                        zip(["caller", "listener", "caller"], handshake.messages).map { from, message in
                            ["from": .string(from), "frame": .hex(frame(message))]
                        })
                ),
                ("handshakeHash", .hex(handshake.caller.handshakeHash)),
                (
                    "afterwards",
                    [
                        [
                            "from": "caller", "plaintext": .hex(hello),
                            "frame": .hex(
                                frame(try handshake.caller.send.seal(Array(hello.readableBytesView)))),
                        ],
                        [
                            "from": "listener", "plaintext": .hex(goodbye),
                            "frame": .hex(
                                frame(try handshake.listener.send.seal(Array(goodbye.readableBytesView)))),
                        ],
                    ]
                ),
                ("refused", .array(refusedFirstFrames(first))),
                (
                    "secondFrame",
                    [
                        [
                            "why": "the listener speaks major version 2",
                            "frame": .hex(frame(refusal(major: 2))),
                            "result": "the user is told of version 2",
                        ],
                        [
                            "why": "a byte of the encrypted static key was changed",
                            "frame": .hex(frame(changed(handshake.messages[1], at: 40))), "result": "closed",
                        ],
                        [
                            "why": "the ephemeral key is of low order",
                            "frame": .hex(
                                frame([UInt8](repeating: 0, count: 32) + handshake.messages[1].dropFirst(32))),
                            "result": "closed",
                        ],
                        [
                            "why": "one byte is missing",
                            "frame": .hex(frame(Array(handshake.messages[1].dropLast()))), "result": "closed",
                        ],
                    ]
                ),
            ])
    }

    private static func refusedFirstFrames(_ first: [UInt8]) -> [JSON] {
        let closed: JSON = "closed"
        let key = Array(first.prefix(32))
        return [
            ["why": "a length of 0", "frame": "0000", "result": closed],
            [
                "why": "a length above 512, refused before the content is there", "frame": "0201",
                "result": closed,
            ],
            ["why": "shorter than a key", "frame": .hex(frame(Array(key.dropLast()))), "result": closed],
            ["why": "no payload", "frame": .hex(frame(key)), "result": closed],
            [
                "why": "another protocol", "frame": .hex(frame(key + Array("SSHPEER1".utf8))),
                "result": closed,
            ],
            [
                "why": "major version 2", "frame": .hex(frame(key + Array("SBPEER".utf8) + [2, 0])),
                "result": .hex(frame(refusal(major: 1))),
            ],
            [
                "why": "a key of low order",
                "frame": .hex(frame([UInt8](repeating: 0, count: 32) + Preamble.payload)), "result": closed,
            ],
        ]
    }

    private static func refusal(major: UInt8) -> [UInt8] { Array(Preamble.refusal.dropLast()) + [major] }

    private static func keys(_ staticKey: KeyPair, _ ephemeral: KeyPair) -> JSON {
        [
            "staticSecret": .secret(staticKey), "static": .hex(staticKey.publicKey.bytes),
            "ephemeralSecret": .secret(ephemeral), "ephemeral": .hex(ephemeral.publicKey.bytes),
        ]
    }

    private static func changed(_ bytes: [UInt8], at index: Int) -> [UInt8] {
        var bytes = bytes
        bytes[index] ^= 1
        return bytes
    }

    static func frame(_ content: [UInt8]) -> [UInt8] {
        [UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
}
