import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

extension VectorFile {
    /// Messages in frames: neither ends where the other does.
    static func frames() throws -> VectorFile {
        let batch = Array(Samples.batch.encoded.readableBytesView)
        let long = Array(longBatch.encoded.readableBytesView)
        return VectorFile(
            "frames.json",
            "Frames of one direction under one key, the first with the nonce 0. `plaintexts` are what each frame holds, "
                + "`messages` what all of them say together. The text of `long` is not written out, nor are its "
                + "frames: their lengths and BLAKE2b-256 hashes are.",
            section: "2, 3.5, 6.6",
            [
                ("key", .hex(VectorKeys.frames)),
                (
                    "cases",
                    [
                        try frames(
                            "several messages in one frame",
                            [Array(1...8), Array(2...9)].map(Message.ping) + [.goodbye], cuts: []),
                        try frames(
                            "a batch over four frames", [Samples.batch], cuts: [1, 2, batch.count / 2]),
                        try frames(
                            "the end of one and the beginning of another", [Samples.batch, .goodbye],
                            cuts: [batch.count - 1, batch.count + 1]),
                        try frames("a frame that says nothing", [.goodbye], cuts: [0, 1]),
                    ]
                ),
                (
                    "long",
                    [
                        "zone": 0, "record": "A|~|1", "field": "x",
                        "text": ["repeated": "x", "count": .number(longText.utf8.count)],
                        "stamp": .stamp(Samples.stamp(0)), "token": .token(Samples.token), "last": true,
                        "messageLength": .number(long.count),
                        "messageHash": .hex(BLAKE2b.hash(long, length: 32)),
                        "frames": .array(try longFrames()),
                    ]
                ),
                (
                    "refused",
                    [
                        ["why": "a length of 0", "bytes": "0000", "result": "error 1"],
                        [
                            "why": "shorter than a tag",
                            "bytes": .hex(frame([UInt8](repeating: 0, count: 15))),
                            "result": "closed",
                        ],
                        [
                            "why": "a frame that was changed",
                            "bytes": .hex(frame(try changedFrame())), "result": "closed",
                        ],
                    ]
                ),
            ])
    }

    private static let longText = String(repeating: "x", count: 140_000)

    private static let longBatch = Message.batch(
        zone: 0,
        ChangeBatch(
            records: [Samples.state("A|~|1", [("x", .text(longText), Samples.stamp(0))])],
            token: Samples.token,
            isLast: true))

    private static func cipher() -> SendingCipher {
        SendingCipher(key: SecretBytes(copying: VectorKeys.frames))
    }

    private static func frames(_ why: String, _ messages: [Message], cuts: [Int]) throws -> JSON {
        var plain = ByteBuffer()
        for message in messages { MessageCodec.encode(message, into: &plain) }
        let bytes = Array(plain.readableBytesView)
        var cipher = cipher()
        let ends = cuts + [bytes.count]
        let plaintexts = zip([0] + cuts, ends).map { Array(bytes[$0..<$1]) }
        let sealed = try plaintexts.map { frame(try cipher.seal($0)) }
        return [
            "why": .string(why), "messages": .array(messages.map(JSON.message)),
            "plaintexts": .array(plaintexts.map { .hex($0) }), "frames": .array(sealed.map { .hex($0) }),
        ]
    }

    /// Frames as the writer fills them.
    private static func longFrames() throws -> [JSON] {
        var encoder = MessageEncoder(cipher())
        encoder.begin(longBatch)
        var frames: [JSON] = []
        while let frame = try encoder.nextFrame() {
            let hash = BLAKE2b.hash(Array(frame.readableBytesView), length: 32)
            frames.append(["length": .number(frame.readableBytes), "hash": .hex(hash)])
        }
        return frames
    }

    private static func changedFrame() throws -> [UInt8] {
        var cipher = cipher()
        var sealed = try cipher.seal(Array(Message.goodbye.encoded.readableBytesView))
        sealed[0] ^= 1
        return sealed
    }
}
