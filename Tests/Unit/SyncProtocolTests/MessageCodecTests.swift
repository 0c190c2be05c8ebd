import NIOCore
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncProtocol

/// Every message comes back as it went out, and nothing else is taken for one.
struct MessageCodecTests {
    static let token = ChangeToken(generation: Array(1...8), sequence: 70_000)

    static func stamp(_ time: Int64, _ replica: UInt64) -> Stamp {
        Stamp(time: HybridTime(milliseconds: time), replica: ReplicaID(rawValue: replica))
    }

    static let records: [RecordState] = [
        RecordState(
            name: try! RecordName("SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4"),
            fields: [
                RecordField(name: "name", value: .text("Die Siedler von Catan ☕️"), stamp: stamp(5, 1)),
                RecordField(name: "year", value: .integer(1995), stamp: stamp(6, 2)),
                RecordField(name: "rating", value: .real(-0.5), stamp: stamp(5, 1)),
                RecordField(name: "thumbnail", value: .blob([0, 255]), stamp: stamp(5, 1)),
                RecordField(
                    name: "picture",
                    value: .asset(
                        Asset(
                            hash: AssetExchangeTests.hash(7), size: 70_000, mediaType: "image/png",
                            name: "☕️.png")!), stamp: stamp(5, 1)),
                RecordField(name: "notes", value: .null, stamp: stamp(5, 1)),
            ]),
        RecordState(
            name: try! RecordName("SBMatch|~|7A0DA017-A3F1-4565-8283-95CA9BB28CB6"),
            fields: [
                RecordField(
                    name: "game",
                    value: .reference(try! RecordName("SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4")),
                    stamp: stamp(9, 1)),
                RecordField(name: "date", value: .date(1_448_445_600_000), stamp: stamp(9, 1)),
                RecordField(
                    name: "other", value: .reference(try! RecordName("SBNote|~|free text")),
                    stamp: stamp(9, 1)),
            ],
            deletion: stamp(3, 1), revival: stamp(4, 2)),
        RecordState(name: try! RecordName("SBGame|~|gone"), deletion: stamp(1 << 47, .max)),
    ]

    static let club = ZoneID(name: ZoneName("club")!, owner: ReplicaID(rawValue: 1 << 63))

    static let messages: [Message] = [
        .hello(
            Message.Hello(
                minorVersion: 0, replica: ReplicaID(rawValue: 7), instance: 1 << 63, displayName: "kitchen",
                clock: 1_700_000_000_000,
                zones: [
                    ZoneOffer(
                        id: club, name: "Chess club", isDefault: true, isShared: false, rights: .read,
                        recordCount: 70_000, fingerprint: [UInt8](repeating: 9, count: 16)),
                    ZoneOffer(
                        id: ZoneID(name: .standard, owner: ReplicaID(rawValue: 2)),
                        name: "ScorebookData", isDefault: false, isShared: true, rights: .write,
                        recordCount: 0, fingerprint: [UInt8](repeating: 0, count: 16)),
                ])),
        .open(
            Message.Open(
                union: .merge,
                zones: [
                    Message.Open.Entry(
                        id: ZoneID(name: .standard, owner: ReplicaID(rawValue: 2)), received: token),
                    Message.Open.Entry(id: club, received: nil),
                ])),
        .refuse(Message.Refuse(zone: 1, reason: 2, names: records.map(\.name))),
        .pairingShare([UInt8](repeating: 3, count: 32)),
        .assetRequest(Message.AssetRequest(hash: AssetExchangeTests.hash(1), offset: 1 << 40, length: 1)),
        .assetChunk(
            Message.AssetChunk(
                hash: AssetExchangeTests.hash(1), offset: 70_000, bytes: ByteBuffer(bytes: [1, 2]))),
        .assetMissing(AssetExchangeTests.hash(2)),
        .assetsAvailable([AssetExchangeTests.hash(1), AssetExchangeTests.hash(2)]),
        .assetsWanted(Message.AssetsWanted(files: 3, bytes: 1 << 40)),
        .pairingTag(Message.PairingTag(tag: [UInt8](repeating: 4, count: 64), displayName: "attic")),
        .begin(Message.Begin(zone: 0, isHeldTokenVoid: true, isWholeCopy: false, recordCount: 70_000)),
        .reconcile(
            Message.Reconcile(
                zone: 1, isEnd: true, wanted: [NegentropyID([UInt8](repeating: 5, count: 32))!], payload: [])),
        .reconcile(Message.Reconcile(zone: 0, payload: [0x61, 0, 0])),
        .batch(zone: 0, ChangeBatch(records: records, token: token, isLast: false, isLoose: true)),
        .batch(zone: 1, ChangeBatch(records: records, token: token, isLast: false)),
        .batch(zone: 0, ChangeBatch(records: [], token: token, isLast: true)),
        .acknowledge(zone: 0, token),
        .digest(
            zone: 0,
            ZoneSummary(
                current: token, received: nil,
                digest: ZoneDigest(count: 3, sumBytes: [UInt8](repeating: 9, count: 32))!)),
        .resync(zone: 0, round: 1),
        .ping(Array(0..<8)), .pong(Array(0..<8)),
        .error(ProtocolError(.notPaired, "not paired")), .goodbye,
    ]

    static func encoded(_ message: Message) -> ByteBuffer {
        var buffer = ByteBuffer()
        MessageCodec.encode(message, into: &buffer)
        return buffer
    }

    @Test(arguments: messages)
    func comesBackAsItWentOut(message: Message) throws {
        var buffer = Self.encoded(message)
        #expect(try MessageCodec.decode(&buffer, limit: 1 << 20) == message)
        #expect(buffer.readableBytes == 0)
    }

    @Test(arguments: messages)
    func isNotTakenBeforeItIsAllThere(message: Message) throws {
        let whole = Self.encoded(message)
        for length in 0..<whole.readableBytes {
            var part = whole.getSlice(at: 0, length: length)!
            #expect(try MessageCodec.decode(&part, limit: 1 << 20) == nil)
            #expect(part.readableBytes == length)
        }
    }

    @Test(arguments: messages)
    func trailingBytesOfANewerVersionAreSkipped(message: Message) throws {
        // Pings and shares are of fixed length; records end with the batch.
        var body = Self.encoded(message)
        _ = body.readVarintIfPresent()
        body.writeBytes([1, 2, 3])
        var buffer = ByteBuffer()
        buffer.writeCount(body.readableBytes)
        buffer.writeBuffer(&body)
        #expect(try MessageCodec.decode(&buffer, limit: 1 << 20) == message)
    }

    @Test func anUnknownTypeIsSkippedWhole() throws {
        var buffer = ByteBuffer()
        buffer.writeCount(4)
        buffer.writeVarint(63)
        buffer.writeBytes([1, 2, 3])
        MessageCodec.encode(.goodbye, into: &buffer)
        #expect(try MessageCodec.decode(&buffer, limit: 100) == .unknown(type: 63))
        #expect(try MessageCodec.decode(&buffer, limit: 100) == .goodbye)
    }

    @Test func aLengthBeyondTheLimitIsRefusedBeforeTheBytesAreThere() {
        var buffer = ByteBuffer()
        buffer.writeVarint(1_000_000)
        #expect(throws: ProtocolError.self) { try MessageCodec.decode(&buffer, limit: 1024) }
    }

    /// Bytes changed at random: whatever comes out, nothing crashes, and every refusal is one of ours.
    @Test func damagedMessagesAreRefusedOrUnderstoodNeverFatal() {
        var random = SeededGenerator(seed: 42)
        var refused = 0
        for _ in 0..<4000 {
            var bytes = Array(Self.encoded(Self.messages.randomElement(using: &random)!).readableBytesView)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            var buffer = ByteBuffer(bytes: bytes)
            do {
                while try MessageCodec.decode(&buffer, limit: 1 << 20) != nil {}
            } catch {
                #expect(error.code == .malformed)
                refused += 1
            }
        }
        #expect(refused > 500)
    }

    @Test func wordsOfOthersCannotSteerTheTerminal() throws {
        var buffer = Self.encoded(.error(ProtocolError(.malformed, "a\u{1B}[2J\nb\u{202E}c")))
        guard case .error(let error) = try MessageCodec.decode(&buffer, limit: 1000) else {
            Issue.record("no error came back")
            return
        }
        #expect(error.message == "a [2J b c")
    }

    @Test func longNamesAreCutAtACharacter() throws {
        let name = String(repeating: "é", count: 40)
        var buffer = Self.encoded(
            .hello(
                Message.Hello(
                    minorVersion: 0, replica: ReplicaID(rawValue: 1), instance: 0, displayName: name,
                    clock: 0, zones: [])
            ))
        guard case .hello(let hello) = try MessageCodec.decode(&buffer, limit: 1000) else {
            Issue.record("no hello came back")
            return
        }
        #expect(hello.displayName == String(repeating: "é", count: 32))
    }
}

/// What a batch must not contain.
struct BatchRefusalTests {
    private func batch(_ build: (inout ByteBuffer) -> Void) -> ByteBuffer {
        var body = ByteBuffer()
        body.writeVarint(5)
        body.writeCount(0)
        body.writeToken(MessageCodecTests.token)
        body.writeInteger(1 as UInt8)
        build(&body)
        var buffer = ByteBuffer()
        buffer.writeCount(body.readableBytes)
        buffer.writeBuffer(&body)
        return buffer
    }

    /// Tables of one replica, one type and one shape with the given fields.
    private func tables(_ body: inout ByteBuffer, type: String = "A", fields: [String] = ["x"]) {
        body.writeCount(1)
        body.writeInteger(7 as UInt64)
        body.writeCount(1)
        body.writeText(type)
        body.writeCount(1)
        body.writeCount(0)
        body.writeCount(fields.count)
        for field in fields { body.writeText(field) }
    }

    private func record(_ body: inout ByteBuffer, value: [UInt8]) {
        body.writeCount(1)
        body.writeCount(0)
        body.writeInteger(0 as UInt8)
        body.writeText("1")
        body.writeInteger(0 as UInt8)
        body.writeInteger(0 as UInt64)
        body.writeCount(0)
        body.writeBytes(value)
    }

    /// - Parameter reason: how the error says what was wrong.
    private func expectMalformed(_ reason: String, _ buffer: ByteBuffer, _ comment: Comment) {
        var buffer = buffer
        let error = #expect(throws: ProtocolError.self, comment) {
            try MessageCodec.decode(&buffer, limit: 1 << 20)
        }
        #expect(error?.code == .malformed, comment)
        #expect(error?.message.contains("sent \(reason), ") == true, "\(comment): \(error?.message ?? "")")
    }

    @Test func theyAreRefused() {
        expectMalformed(
            "1099511627776 as the size of a table", batch { $0.writeVarint(1 << 40) },
            "a table larger than the message")
        expectMalformed(
            "a name that is no identifier",
            batch {
                tables(&$0, type: "A B")
                $0.writeCount(0)
            }, "a type that is no identifier")
        for (fields, what) in [
            (["b", "a"], "fields out of order"), (["a", "a"], "a field twice"),
        ] as [([String], Comment)] {
            expectMalformed(
                "fields that are not in order",
                batch {
                    tables(&$0, fields: fields)
                    $0.writeCount(0)
                }, what)
        }
    }

    @Test(
        arguments: [
            ([0x12, 0x00, 0x01], "an integer in too many bytes"), ([0x19], "an unknown kind of value"),
            ([0x02, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], "a number that is none"),
            ([0x03, 0x01, 0xFF], "a text that is not UTF-8"),
            ([0x03, 0x05, 0x41], "5 as the length of a text"),
            ([0x12, 0x01], "a message that ends early"),
            ([0x28, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "a date that cannot be written"),
            ([0x06, 0x05], "5 as a type's number"), ([0x09], "an unknown kind of value"),
        ] as [([UInt8], String)])
    func valuesAreRefused(value: [UInt8], reason: String) {
        expectMalformed(
            reason,
            batch {
                tables(&$0)
                record(&$0, value: value)
            }, "\(value)")
    }

    /// A record takes few bytes on the wire and many in memory.
    @Test func aBatchHasNoMoreRecordsThanItMay() throws {
        for (count, isTaken) in [(65_536, true), (65_537, false)] {
            let stamp = Stamp(time: HybridTime(rawValue: 1), replica: ReplicaID(rawValue: 1))
            let name = try RecordName("A|~|1")
            let records = [RecordState](repeating: RecordState(name: name, deletion: stamp), count: count)
            let batch = ChangeBatch(records: records, token: .start, isLast: true)
            var buffer = ByteBuffer()
            MessageCodec.encode(.batch(zone: 0, batch), into: &buffer)
            let message = try? MessageCodec.decode(&buffer, limit: ProtocolLimits.maximumMessage)
            #expect((message == .batch(zone: 0, batch)) == isTaken)
        }
    }

    @Test func theSameRecordWithAGoodValueIsTaken() throws {
        var buffer = batch {
            tables(&$0)
            record(&$0, value: [0x11, 0x05])
        }
        guard case .batch(_, let batch)? = try MessageCodec.decode(&buffer, limit: 1000) else {
            Issue.record("no batch came back")
            return
        }
        #expect(batch.records.map(\.name.description) == ["A|~|1"])
        #expect(batch.records[0].field("x")?.value == .integer(5))
    }
}

struct FrameDecoderTests {
    @Test func framesComeOutHoweverTheyWereCut() throws {
        let stream: [UInt8] = [0, 3, 1, 2, 3, 0, 1, 9]
        for size in 1...stream.count {
            var decoder = FrameDecoder(limit: 512)
            var frames: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                decoder.append(ByteBuffer(bytes: stream[start..<min(start + size, stream.count)]))
                while let frame = try decoder.next() { frames.append(Array(frame.readableBytesView)) }
            }
            #expect(frames == [[1, 2, 3], [9]])
            #expect(decoder.pendingBytes == 0)
        }
    }

    @Test(arguments: [[0, 0], [2, 1], [0xFF, 0xFF]] as [[UInt8]])
    func lengthsOutOfBoundsAreRefusedAtOnce(length: [UInt8]) {
        var decoder = FrameDecoder(limit: 512)
        decoder.append(ByteBuffer(bytes: length))
        #expect(throws: ProtocolError.self) { try decoder.next() }
    }
}
