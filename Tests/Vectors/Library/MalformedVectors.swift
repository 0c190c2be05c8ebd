import NIOCore
import PeerSyncModel
import PeerSyncProtocol

extension VectorFile {
    /// Messages that a peer must not send, with the error of each.
    static var malformed: VectorFile {
        VectorFile(
            "malformed.json",
            "Whole messages, or the beginning of one, that a reader must answer with the error whose code stands "
                + "beside them. `messages` are refused wherever they come. `beforeGreeting` are refused by a listener "
                + "up to the caller's hello, and by either side while it pairs. `outOfTurn` come in place of the "
                + "message that `inPlaceOf` names; exchange is any time after the begins, in a session of one zone "
                + "in which no message has asked for them.",
            section: "5, 6, 7, 10, 13",
            [
                (
                    "messages",
                    .array(broken.map { describe($0.0, $0.1, 1) })
                ),
                ("longMessages", .array(longMessages)),
                ("beforeGreeting", .array(tooEarly.map { describe($0.0, $0.1, $0.2) })),
                (
                    "outOfTurn",
                    .array(
                        outOfTurn.map { place, why, message, code in
                            [
                                "inPlaceOf": .string(place), "why": .string(why), "bytes": .hex(message),
                                "error": .number(code),
                            ]
                        })
                ),
            ])
    }

    private static var broken: [(String, ByteBuffer)] {
        brokenMessages + MalformedHouseholds.messages + brokenBatches + brokenValues
    }

    private static func describe(_ why: String, _ bytes: ByteBuffer, _ code: Int) -> JSON {
        ["why": .string(why), "bytes": .hex(bytes), "error": .number(code)]
    }

    /// Messages that are too long to write out: their parts, with the count of each.
    private static var longMessages: [JSON] {
        [
            ("assetChunk: 65,281 bytes", tooLongChunk), ("batch: 2^20 + 1024 fields", tooManyFields),
            ("batch: 65,537 records", tooManyRecords),
        ]
        .map { why, parts in
            [
                "why": .string(why),
                "parts": .array(parts.map { ["bytes": .hex($0.bytes), "times": .number($0.times)] }),
                "error": 1,
            ]
        }
    }

    private typealias Part = (bytes: [UInt8], times: Int)

    /// Puts the length and the type of a message in front of its parts.
    private static func message(_ type: UInt8, _ parts: [Part]) -> [Part] {
        let length = 1 + parts.reduce(0) { $0 + $1.bytes.count * $1.times }
        var head: [UInt8] = []
        VariableLengthInteger.append(UInt64(length), to: &head)
        return [(head + [type], 1)] + parts
    }

    private static var tooLongChunk: [Part] {
        message(15, [(Samples.hash(1).bytes + [0, 0x80, 0, 0xFF, 0x01], 1), ([0], 65_281)])
    }

    private static let zeros = [UInt8](repeating: 0, count: 64)

    // MARK: Messages

    private static var brokenMessages: [(String, ByteBuffer)] {
        let hash = [UInt8](repeating: 1, count: 32)
        let offer: [UInt8] = [1, UInt8(ascii: "z")] + zeros.prefix(8) + [1, UInt8(ascii: "z")]
        let helloHead = [0] + zeros.prefix(16) + [1, UInt8(ascii: "n"), 0]
        let club: [UInt8] = [1, UInt8(ascii: "z")] + zeros.prefix(8)
        let fullSum = zeros.prefix(32)
        return [
            ("longer than 16 MiB", ByteBuffer(bytes: [0x81, 0x00, 0x00, 0x01])),
            ("a length of 2^62 - 1", ByteBuffer(bytes: [0xFF] + [UInt8](repeating: 0xFF, count: 7))),
            ("a message without a type", ByteBuffer(bytes: [0])),
            ("a type that is cut off", ByteBuffer(bytes: [1, 0x40])),
            ("hello: empty", .message(1, [])),
            ("hello: 65 zones", .message(1, helloHead + [0x40, 65])),
            (
                "hello: a zone without rights",
                .message(1, helloHead + [1] + offer + [0, 0, 0] + zeros.prefix(16))
            ),
            ("hello: rights 3", .message(1, helloHead + [1] + offer + [0, 3, 0] + zeros.prefix(16))),
            (
                "hello: a short fingerprint",
                .message(1, helloHead + [1] + offer + [0, 2, 0] + zeros.prefix(15))
            ),
            (
                "hello: a display name of 65 bytes",
                .message(
                    1, [0] + zeros.prefix(16) + [0x40, 65] + [UInt8](repeating: 0x61, count: 65) + [0, 0])
            ),
            (
                "hello: a display name that is not UTF-8",
                .message(1, [0] + zeros.prefix(16) + [1, 0xFF, 0, 0])
            ),
            (
                "hello: a zone that is called nothing",
                .message(1, helloHead + [1] + club + [0] + [0, 2, 0] + zeros.prefix(16))
            ),
            (
                "hello: a zone that is called something but printable ASCII",
                .message(1, helloHead + [1] + club + [2, 0xC3, 0xA4] + [0, 2, 0] + zeros.prefix(16))
            ),
            (
                "hello: a zone twice",
                .message(
                    1,
                    helloHead + [2] + offer + [0, 2, 0] + zeros.prefix(16) + offer + [0, 2, 0]
                        + zeros.prefix(16))
            ),
            (
                "hello: two default zones",
                .message(
                    1,
                    helloHead + [2] + offer + [1, 2, 0] + zeros.prefix(16) + [1, UInt8(ascii: "y")]
                        + offer.dropFirst(2) + [1, 2, 0] + zeros.prefix(16))
            ),
            ("pairingShare: 31 bytes", .message(2, Array(zeros.prefix(31)))),
            ("pairingTag: 63 bytes", .message(3, Array(zeros.prefix(63)))),
            ("pairingTag: no name", .message(3, zeros)),
            ("begin: zone 64", .message(4, [0x40, 64, 0, 0, 0])),
            ("begin: a flag of 2", .message(4, [0, 2, 0, 0])),
            ("begin: no count", .message(4, [0, 0, 0])),
            ("acknowledge: no token", .message(6, [0])),
            ("acknowledge: a generation of 33 bytes", .message(6, [0, 33] + zeros.prefix(33) + [0, 0])),
            ("acknowledge: a generation that is cut off", .message(6, [0, 8, 1, 2])),
            ("acknowledge: a horizon that is the sequence", .message(6, [0, 1, 1, 7, 7])),
            ("digest: a sum of 31 bytes", .message(7, [0, 0, 0, 0, 0, 0] + zeros.prefix(31))),
            (
                "digest: 2^30 refused",
                .message(7, [0, 0, 0, 0, 0, 0] + fullSum + [0xC0, 0, 0, 0, 0x40, 0, 0, 0])
            ),
            ("resync: round 2^30", .message(8, [0, 0xC0, 0, 0, 0, 0x40, 0, 0, 0])),
            ("ping: 7 bytes", .message(9, Array(zeros.prefix(7)))),
            ("pong: nothing", .message(10, [])),
            (
                "error: a sentence of 1025 bytes",
                .message(11, [1, 0x44, 0x01] + [UInt8](repeating: 0x61, count: 1025))
            ),
            ("error: a sentence that is cut off", .message(11, [1, 5, 0x61])),
            ("reconcile: 65,537 wanted", .message(13, [0, 0, 0x80, 0x01, 0x00, 0x01])),
            ("reconcile: fewer wanted than it says", .message(13, [0, 1, 2] + zeros.prefix(32))),
            ("reconcile: fewer bytes than it says", .message(13, [0, 0, 0, 3, 0x61, 0])),
            ("reconcile: an end that goes on", .message(13, [0, 1, 0, 1, 0x61])),
            ("assetRequest: no length", .message(14, hash + [0])),
            ("assetChunk: fewer bytes than it says", .message(15, hash + [0, 2, 1])),
            ("assetMissing: 31 bytes", .message(16, Array(hash.prefix(31)))),
            ("assetsAvailable: 1025 files", .message(17, [0x44, 0x01])),
            ("assetsAvailable: fewer than it says", .message(17, [2] + hash)),
            ("assetsWanted: no bytes", .message(18, [1])),
            ("open: union 5", .message(19, [5, 0])),
            ("open: 65 zones", .message(19, [0, 0x40, 65])),
            (
                "open: a zone name that is not ASCII",
                .message(19, [0, 1, 2, 0xC3, 0xA9] + zeros.prefix(8) + [0])
            ),
            ("open: an empty zone name", .message(19, [0, 1, 0] + zeros.prefix(8) + [0])),
            ("open: a zone twice", .message(19, [0, 2] + club + [0] + club + [0])),
            ("open: a flag of 2", .message(19, [0, 1] + club + [2])),
            ("refuse: a name that is none", .message(20, [0, 1, 1, 3] + Array("A|1".utf8))),
            ("refuse: reason 256", .message(20, [0, 0x41, 0, 0])),
            ("refuse: 65,537 names", .message(20, [0, 1, 0x80, 0x01, 0x00, 0x01])),
        ]
    }

    // MARK: Batches

    /// The batch from which each of the broken batches differs in one part.
    package static var soundBatch: ByteBuffer { .batch(BatchParts()) }

    private static func batch(_ why: String, _ change: (inout BatchParts) -> Void) -> (String, ByteBuffer) {
        var parts = BatchParts()
        change(&parts)
        return ("batch: " + why, .batch(parts))
    }

    private static var brokenBatches: [(String, ByteBuffer)] {
        let identifier = [UInt8](repeating: UInt8(ascii: "a"), count: 64)
        return [
            batch("zone 64") { $0.zone = [0x40, 64] },
            batch("a record more than there is") { $0.count = [2] },
            batch("more records than the bytes that are left can hold") { $0.count = [0x7F, 0xFF] },
            batch("a replica that is not in the table") { $0.replicas = [] },
            batch("a type that is no identifier") { $0.types = ["A B"] },
            batch("a type that begins with a digit") { $0.types = ["1A"] },
            batch("an empty type") { $0.types = [""] },
            batch("a type of 64 bytes") { $0.types = [String(decoding: identifier, as: UTF8.self)] },
            batch("a shape of a type that is not in the table") { $0.shapes = [[1, 1, 1, 0x78]] },
            batch("fields that are not in order") { $0.shapes = [[0, 2, 1, 0x79, 1, 0x78]] },
            batch("a field twice") { $0.shapes = [[0, 2, 1, 0x78, 1, 0x78]] },
            batch("a field of 64 bytes") { $0.shapes = [[0, 1, 0x40, 64] + identifier] },
            batch("1025 fields") { $0.shapes = [[0, 0x44, 0x01]] },
            batch("a record of a shape that is not in the table") { $0.shape = [1] },
            batch("an unknown form of suffix") { $0.suffix = [3] + zeros.prefix(16) },
            batch("an empty suffix") { $0.suffix = [0, 0] },
            batch("a suffix that is not printable ASCII") { $0.suffix = [0, 1, 0x7F] },
            batch("a suffix that is too long for a name") {
                $0.suffix = [0, 0x40, 0xFC] + [UInt8](repeating: 0x61, count: 252)
            },
            batch("a record flag that does not exist") { $0.recordFlags = 16 },
            batch("an erasure without a deletion") {
                $0.recordFlags = 8
                $0.stamps = BatchParts.stamp(5) + $0.stamps
            },
            batch("an erasure without a deletion, and a revival") {
                $0.recordFlags = 2 | 8
                $0.stamps = BatchParts.stamp(20) + BatchParts.stamp(5) + $0.stamps
            },
            batch("an erasure that is greater than the deletion") {
                $0.recordFlags = 1 | 8
                $0.stamps = BatchParts.stamp(5) + BatchParts.stamp(6) + $0.stamps
            },
            batch("a stamp of a replica that is not in the table") { $0.stamps[8] = 1 },
            batch("an exception for a field that the shape does not have") {
                $0.recordFlags = 4
                $0.stamps += [1, 1] + zeros.prefix(9)
            },
            batch("more exceptions than fields") {
                $0.recordFlags = 4
                $0.stamps += [2, 0] + zeros.prefix(9) + [0] + zeros.prefix(9)
            },
            batch("a record without content") {
                $0.shapes = [[0, 0]]
                $0.stamps = []
                $0.value = []
            },
            batch("a batch that ends within a record") { $0.value = [] },
        ]
    }

    /// 1,025 records of 1,024 nulls each: more fields than a batch may have.
    private static var tooManyFields: [Part] {
        let fields = (1000..<2024).map { number in [5] + Array("f\(number)".utf8) }
        let shape = [0, 0x44, 0x00] + fields.joined()
        let record: [UInt8] = [0, 0, 1, 0x31, 0] + zeros.prefix(9) + [UInt8](repeating: 0, count: 1024)
        let parts = BatchParts()
        let tables = [1] + parts.replicas.joined() + [1, 1, UInt8(ascii: "A"), 1] + shape
        return message(
            5, [(parts.zone + parts.token + [parts.flags] + tables + [0x44, 0x01], 1), (record, 1025)])
    }

    /// 65,537 tombstones: more records than a batch may have.
    private static var tooManyRecords: [Part] {
        let parts = BatchParts()
        let tables = [1] + parts.replicas.joined() + [1, 1, UInt8(ascii: "A"), 1, 0, 0]
        let count: [UInt8] = [0x80, 0x01, 0x00, 0x01]
        let record: [UInt8] = [0, 0, 1, 0x31, 1] + BatchParts.stamp(9)
        return message(5, [(parts.zone + parts.token + [parts.flags] + tables + count, 1), (record, 65_537)])
    }

    private static var brokenValues: [(String, ByteBuffer)] {
        let values: [(String, [UInt8])] = [
            ("an integer in too many bytes", [0x12, 0x00, 0x01]), ("zero in one byte", [0x11, 0x00]),
            ("-1 in two bytes", [0x12, 0xFF, 0xFF]), ("an integer of nine bytes", [0x19] + zeros.prefix(9)),
            ("an integer that is cut off", [0x12, 0x01]),
            ("NaN", [0x02, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
            ("another NaN", [0x02, 0xFF, 0xF0, 0, 0, 0, 0, 0, 1]),
            ("text that is not UTF-8", [0x03, 0x01, 0xFF]),
            ("a surrogate in UTF-8", [0x03, 0x03, 0xED, 0xA0, 0x80]),
            ("text in an overlong form", [0x03, 0x02, 0xC0, 0x80]),
            ("text that ends early", [0x03, 0x05, 0x41]), ("a blob that ends early", [0x04, 0x05, 0x41]),
            ("a date before 0000", [0x26, 0xC7, 0x75, 0x90, 0xFB, 0x9F, 0xFF]),
            ("a date after 9999", [0x27, 0x00, 0xE6, 0x77, 0xD2, 0x1F, 0xDC, 0x00]),
            ("the latest of all dates", [0x28, 0x7F] + [UInt8](repeating: 0xFF, count: 7)),
            ("a date in too many bytes", [0x22, 0x00, 0x01]),
            ("a reference of a type that is not in the table", [0x06, 0x05, 0x00, 0x01, 0x31]),
            ("a reference with an empty suffix", [0x06, 0x00, 0x00, 0x00]),
            ("an asset without a media type", [0x07] + zeros.prefix(32) + [1, 0, 0]),
            ("an asset with a media type in upper case", asset(type: "Image/png", name: "")),
            ("an asset with a media type of three parts", asset(type: "a/b/c", name: "")),
            (
                "an asset larger than 2 GiB",
                asset(size: [0xC0, 0, 0, 0, 0x80, 0, 0, 1], type: "a/b", name: "")
            ),
            ("an asset with a path for a name", asset(type: "a/b", name: "../x")),
            ("an asset named ..", asset(type: "a/b", name: "..")),
            ("an asset with a line feed in its name", asset(type: "a/b", name: "a\nb")),
            ("an asset with a backslash in its name", asset(type: "a/b", name: "a\\b")),
            ("a reserved tag, 01", [0x01]), ("a reserved tag, 05", [0x05]),
            ("a reserved tag, 08", [0x08, 0]),
            ("a reserved tag, 30", [0x30]), ("a reserved tag, ff", [0xFF]),
        ]
        return values.map { why, value in
            let (_, bytes) = batch("") { $0.value = value }
            return ("value: " + why, bytes)
        }
    }

    private static func asset(size: [UInt8] = [1], type: String, name: String) -> [UInt8] {
        var bytes: [UInt8] = [0x07]
        bytes += zeros.prefix(32)
        bytes += size
        for text in [type, name] {
            bytes.append(UInt8(text.utf8.count))
            bytes += text.utf8
        }
        return bytes
    }

    // MARK: Order

    private static var tooEarly: [(String, ByteBuffer, Int)] {
        [
            ("a message of 65,537 bytes", ByteBuffer(bytes: [0x80, 0x01, 0x00, 0x01]), 1)
        ]
    }

    private static var outOfTurn: [(String, String, ByteBuffer, Int)] {
        let token = Samples.token
        let hash = Samples.hash(9)
        let hello = Message.hello(
            Message.Hello(
                minorVersion: 0, replica: Samples.attic, instance: 1, displayName: "a", clock: 0, zones: []))
        let loose = ChangeBatch(records: [], token: token, isLast: true, isLoose: true)
        let exchange: [(String, Message, Int)] = [
            ("a second hello", hello, 2), ("a second open", .open(Message.Open(union: .none, zones: [])), 2),
            (
                "a second begin",
                .begin(Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0)), 2
            ),
            ("a pairing share", .pairingShare(Array(zeros.prefix(32))), 2),
            ("a pairing tag", .pairingTag(Message.PairingTag(tag: zeros, displayName: "a")), 2),
            ("an acknowledgement of what was not sent", .acknowledge(zone: 0, token), 2),
            ("a loose batch without a reconciliation", .batch(zone: 0, loose), 2),
            (
                "a reconcile that nothing has led to",
                .reconcile(Message.Reconcile(zone: 0, payload: [0x61])), 2
            ),
            (
                "a piece of a file that was not asked for",
                .assetChunk(Message.AssetChunk(hash: hash, offset: 0, bytes: ByteBuffer(bytes: [1]))), 2
            ),
            ("a missing file that was not asked for", .assetMissing(hash), 2),
            (
                "a request for no bytes",
                .assetRequest(Message.AssetRequest(hash: hash, offset: 0, length: 0)), 2
            ),
            (
                "a request for more than 16 MiB",
                .assetRequest(Message.AssetRequest(hash: hash, offset: 0, length: (16 << 20) + 1)), 2
            ),
            ("a zone that the session does not have", .resync(zone: 1, round: 1), 1),
        ]
        return [
            ("hello", "a ping before the greeting", Message.ping(Array(1...8)).encoded, 2),
            ("hello", "a batch before the greeting", Samples.batch.encoded, 2),
            (
                "open", "a begin before the open",
                Message.begin(
                    Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0)
                ).encoded, 2
            ),
            ("open", "a second hello", hello.encoded, 2),
        ] + exchange.map { ("exchange", $0.0, $0.1.encoded, $0.2) }
    }
}
