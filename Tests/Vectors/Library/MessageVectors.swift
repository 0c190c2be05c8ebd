import NIOCore
import PeerSyncModel
import PeerSyncProtocol

extension VectorFile {
    /// Each type of message.
    static var messages: VectorFile {
        VectorFile(
            "messages.json",
            "Messages as they are sent, with the length in front. A reader turns the bytes into what stands beside "
                + "them; a writer need not choose the same tables and base stamps, but this one does. `readsAs` has "
                + "messages that another version or another writer may send.",
            section: "5, 6.5, 6.6",
            [
                (
                    "messages",
                    .array(samples.map { ["message": .message($0), "bytes": .hex($0.encoded)] })
                ),
                (
                    "readsAs",
                    .array(
                        tolerated.map { why, bytes, message in
                            ["why": .string(why), "message": .message(message), "bytes": .hex(bytes)]
                        })
                ),
            ])
    }

    package static let samples: [Message] = {
        let club = Samples.zone("club nights", Samples.attic)
        let main = Samples.zone("ScorebookData")
        let long = ChangeToken(
            generation: [UInt8](repeating: 0xC4, count: ChangeToken.maximumGenerationLength),
            sequence: (1 << 62) - 2, horizon: (1 << 62) - 1)
        let ids = [Samples.game, Samples.match].map { NegentropyID(RecordID($0)) }
        return [
            .hello(
                Message.Hello(
                    minorVersion: 0, replica: Samples.kitchen, instance: 0x1122_3344_5566_7788,
                    displayName: "K\u{FC}che", clock: Samples.moment,
                    zones: [
                        ZoneOffer(
                            id: main, name: "ScorebookData", isDefault: true, isShared: false, rights: .write,
                            recordCount: 6612, fingerprint: Array(0..<16)),
                        ZoneOffer(
                            id: club, name: "club", isDefault: false, isShared: true, rights: .read,
                            recordCount: 0, fingerprint: ZoneDigest().fingerprint),
                    ])),
            .hello(
                Message.Hello(
                    minorVersion: 0, replica: Samples.attic, instance: 0, displayName: "attic", clock: 0,
                    zones: [])),
            .pairingShare([UInt8](repeating: 3, count: 32)),
            .pairingTag(
                Message.PairingTag(tag: [UInt8](repeating: 4, count: 64), displayName: "attic")),
            .open(
                Message.Open(
                    union: .merge,
                    zones: [
                        Message.Open.Entry(id: main, received: Samples.token),
                        Message.Open.Entry(id: club, received: nil),
                    ])),
            .open(Message.Open(union: .none, zones: [])),
            .begin(Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 0)),
            .begin(Message.Begin(zone: 63, isHeldTokenVoid: true, isWholeCopy: false, recordCount: 70_000)),
            Samples.batch,
            .batch(zone: 1, ChangeBatch(records: Samples.records, token: long, isLast: false, isLoose: true)),
            .batch(zone: 0, ChangeBatch(records: [], token: .start, isLast: true)),
            .batch(
                zone: 0,
                ChangeBatch(
                    records: [Samples.erased, Samples.writtenAnew], token: Samples.token, isLast: true)),
            .batch(
                zone: 0,
                ChangeBatch(
                    records: [
                        Samples.state(
                            "All|~|kinds",
                            [
                                ("a", .null, Samples.stamp(0)), ("b", .integer(-129), Samples.stamp(0)),
                                ("c", .real(0.1), Samples.stamp(0)),
                                ("d", .text("\u{1F3B2}"), Samples.stamp(0)),
                                ("e", .blob([0, 1, 2]), Samples.stamp(0)), ("f", .date(-1), Samples.stamp(0)),
                                ("g", .reference(Samples.name("Other|~|x y|~|z")), Samples.stamp(0)),
                                ("h", .asset(Samples.asset()), Samples.stamp(0)),
                            ])
                    ], token: Samples.token, isLast: false)),
            .acknowledge(zone: 0, Samples.token), .acknowledge(zone: 5, long),
            .digest(
                zone: 0,
                ZoneSummary(
                    current: Samples.token, received: nil, digest: digest(of: Samples.records), refused: 0)),
            .digest(
                zone: 1,
                ZoneSummary(current: .start, received: long, digest: ZoneDigest(), refused: (1 << 30) - 1)),
            .resync(zone: 0, round: 1),
            .reconcile(Message.Reconcile(zone: 1, isEnd: true, wanted: ids, payload: [])),
            .reconcile(Message.Reconcile(zone: 0, payload: [0x61, 0, 0])),
            .assetRequest(Message.AssetRequest(hash: Samples.hash(1), offset: 1 << 30, length: 1)),
            .assetChunk(
                Message.AssetChunk(
                    hash: Samples.hash(1), offset: 65_280, bytes: ByteBuffer(bytes: [0xDE, 0xAD]))),
            .assetMissing(Samples.hash(2)),
            .assetsAvailable([Samples.hash(1), Samples.hash(2)]), .assetsAvailable([]),
            .assetsWanted(Message.AssetsWanted(files: 3, bytes: 1 << 40)),
            .household(HouseholdVectors.household.digest),
            .householdSet(
                Message.HouseholdSet(
                    set: HouseholdVectors.household, port: 7431,
                    addresses: [
                        Message.HouseholdSet.Address(
                            key: HouseholdVectors.key(3), address: "192.168.1.5:7431"),
                        Message.HouseholdSet.Address(
                            key: HouseholdVectors.key(3), address: "attic.local:7431"),
                    ])),
            .householdSet(Message.HouseholdSet(set: Household(), port: 0, addresses: [])),
            .refuse(Message.Refuse(zone: 0, reason: 1, names: Samples.records.map(\.name))),
            .ping(Array(1...8)), .pong(Array(1...8)),
            .error(ProtocolError(.notPaired, "The two machines are not paired.")),
            .error(ProtocolError(ProtocolError.Code(rawValue: 1_000_000), "")),
            .goodbye,
        ]
    }()

    static func digest(of states: [RecordState]) -> ZoneDigest {
        var digest = ZoneDigest()
        for state in states where state.isLive { digest.insert(RecordID(state)) }
        return digest
    }

    /// Messages that a reader accepts although this writer does not send them.
    package static var tolerated: [(why: String, bytes: ByteBuffer, message: Message)] {
        let name = Message.PairingTag(tag: [UInt8](repeating: 4, count: 64), displayName: "a b c")
        let tag = [UInt8](repeating: 4, count: 64)
        return [
            ("bytes after a payload are ignored", .message(10, Array(1...8) + [9, 9]), .pong(Array(1...8))),
            (
                "bytes after the records of a batch are ignored", .batch(BatchParts(rest: [0xEE])),
                BatchParts.message
            ),
            (
                "a type that this version does not know is skipped", .message(63, [1, 2, 3]),
                .unknown(type: 63)
            ),
            (
                "a type beyond 62 bits of one byte, too", .message(16_000, []), .unknown(type: 16_000)
            ),
            ("a length in more bytes than needed", ByteBuffer(bytes: [0x40, 0x01, 0x0C]), .goodbye),
            ("a type in more bytes than needed", ByteBuffer(bytes: [0x02, 0x40, 0x0C]), .goodbye),
            (
                "flags of a batch that this version does not know", .batch(BatchParts(flags: 0xFD)),
                BatchParts.message
            ),
            (
                "table entries that occur twice, and that nothing uses",
                .batch(
                    BatchParts(
                        replicas: [[0, 0, 0, 0, 0, 0, 0, 7], [0, 0, 0, 0, 0, 0, 0, 7]],
                        types: ["A", "Z", "A"])),
                BatchParts.message
            ),
            (
                "a field under the stamp of the erasure is left out",
                .batch(
                    BatchParts(
                        recordFlags: 1 | 8,
                        stamps: BatchParts.stamp(20) + BatchParts.stamp(9) + BatchParts.stamp(9))),
                BatchParts.message(
                    RecordState(
                        name: Samples.name("A|~|1"), deletion: BatchParts.writer(20),
                        erasure: BatchParts.writer(9)))
            ),
            (
                "control and bidirectional characters of a name become blanks",
                .message(3, tag + [7] + Array("a\u{1B}b\u{202E}c".utf8)), .pairingTag(name)
            ),
            (
                "an empty name", .message(3, tag + [0]),
                .pairingTag(Message.PairingTag(tag: tag, displayName: "unnamed"))
            ),
        ]
    }
}

extension ByteBuffer {
    /// Makes a message of any type and content, with its length in front.
    static func message(_ type: UInt64, _ payload: [UInt8]) -> ByteBuffer {
        var body: [UInt8] = []
        VariableLengthInteger.append(type, to: &body)
        body += payload
        var bytes: [UInt8] = []
        VariableLengthInteger.append(UInt64(body.count), to: &bytes)
        return ByteBuffer(bytes: bytes + body)
    }

    static func batch(_ parts: BatchParts) -> ByteBuffer { .message(5, parts.bytes) }
}

/// A batch of one record, `A|~|1` with x = 5. A test can replace any part by one that no writer makes.
struct BatchParts {
    var zone: [UInt8] = [0]
    var token: [UInt8] = [0, 1, 0]
    var flags: UInt8 = 1
    var replicas: [[UInt8]] = [[0, 0, 0, 0, 0, 0, 0, 7]]
    var types = ["A"]
    /// Each with its type's number and its count of fields.
    var shapes: [[UInt8]] = [[0, 1, 1, UInt8(ascii: "x")]]
    var count: [UInt8] = [1]
    var shape: [UInt8] = [0]
    var suffix: [UInt8] = [0, 1, UInt8(ascii: "1")]
    var recordFlags: UInt8 = 0
    /// Deletion, revival, erasure, base stamp and exceptions.
    var stamps: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 9, 0]
    var value: [UInt8] = [0x11, 5]
    var rest: [UInt8] = []

    static let message = message(
        RecordState(
            name: Samples.name("A|~|1"),
            fields: [RecordField(name: "x", value: .integer(5), stamp: writer(9))]))

    static func message(_ state: RecordState) -> Message {
        .batch(
            zone: 0,
            ChangeBatch(records: [state], token: ChangeToken(generation: [], sequence: 1), isLast: true))
    }

    /// A stamp of the replica in the table.
    static func writer(_ time: UInt8) -> Stamp {
        Stamp(time: HybridTime(rawValue: UInt64(time)), replica: ReplicaID(rawValue: 7))
    }

    /// The bytes of ``writer(_:)``.
    static func stamp(_ time: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, time, 0] }

    var bytes: [UInt8] {
        let names = types.map { name in
            var bytes: [UInt8] = []
            VariableLengthInteger.append(UInt64(name.utf8.count), to: &bytes)
            return bytes + Array(name.utf8)
        }
        let tables = [replicas, names, shapes].flatMap { [UInt8($0.count)] + $0.joined() }
        let record = shape + suffix + [recordFlags] + stamps + value
        return zone + token + [flags] + tables + count + record + rest
    }
}
