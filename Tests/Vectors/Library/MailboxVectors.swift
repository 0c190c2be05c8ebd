import PeerSyncChannel
import PeerSyncModel
import Synchronization

@testable import PeerSyncMailbox

/// Vectors for the sealed objects of a mailbox (Protocol/mailbox.md).
enum MailboxVectors {
    private static let app: AppID = "scorebook"

    private static func secrets(_ byte: UInt8) throws -> AuthorSecrets {
        AuthorSecrets(try pair(byte), app: app)
    }

    private static func pair(_ byte: UInt8) throws -> KeyPair {
        try KeyPair(secretKey: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func id<ID: MailboxID>(_ byte: UInt8) -> ID {
        ID(unchecked: [UInt8](repeating: byte, count: ID.length))
    }

    private static let nonce = [UInt8](0..<24)
    private static let log: LogID = id(0x10)
    private static let epoch: FileEpoch = id(0x20)

    static func content() throws -> [(String, JSON)] {
        let author = try secrets(1)
        let readers = [try secrets(2), try secrets(3)]
        return [
            ("padding", padding), ("author", keys(author, try pair(1))),
            (
                "readers",
                .array(
                    try [UInt8(2), 3].map { byte in
                        let pair = try pair(byte)
                        return ["static": .hex(pair.publicKey.bytes), "staticSecret": .secret(pair)]
                    })
            ),
            ("places", places(author.author)), ("segments", .array(segments(author))),
            ("pieces", .array(pieces(author))), ("heads", .array(try heads(author, readers))),
        ]
    }

    private static var padding: JSON {
        let lengths = [
            0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100, 1000, 4097, 65_535, 1_000_000, 1 << 20,
        ]
        return [
            "lengths": .array(
                lengths.map { ["x": .number($0), "padded": .number(Padding.padded($0))] as JSON }),
            "plaintexts": .array(
                [[], [0], [0x80], [1, 2, 3], [UInt8](repeating: 0, count: 40)].map { (bytes: [UInt8]) in
                    ["plaintext": .hex(bytes), "padded": .hex(Padding.add(to: bytes))] as JSON
                }),
            "malformed": .array(
                [[], [0], [0, 0], [1, 2], [1, 0]].map { (bytes: [UInt8]) in JSON.hex(bytes) }),
        ]
    }

    private static func keys(_ secrets: AuthorSecrets, _ pair: KeyPair) -> JSON {
        [
            "app": .string(app.description), "static": .hex(secrets.author.key),
            "staticSecret": .secret(pair),
            "id": .hex(secrets.author.id.bytes), "verificationKey": .hex(secrets.verificationKey),
            "log": .hex(log.bytes), "logKey": .hex(secrets.key(of: log)), "fileEpoch": .hex(epoch.bytes),
            "fileKey": .hex(secrets.key(of: epoch)),
        ]
    }

    private static func places(_ author: Author) -> JSON {
        let file = Samples.hash(7)
        let places: [Place] = [
            .head(.slot, of: author, counter: 1), .head(.section, of: author, counter: 0x1_0000_0001),
            .head(.core, of: author, counter: 1),
            Place(kind: .segment, author: author, log: log.bytes, number: 3),
            Place(kind: .piece, author: author, log: epoch.bytes, number: 0, file: file.bytes),
        ]
        return .array(
            places.map {
                [
                    "kind": .number(Int($0.kind.rawValue)), "log": .hex($0.log),
                    "number": .decimal($0.number),
                    "file": $0.file.isEmpty ? .null : .hex($0.file), "place": .hex($0.bytes),
                ]
            })
    }

    private static func segments(_ author: AuthorSecrets) -> [JSON] {
        let key = author.key(of: log)
        let batches = [
            ChangeBatch(records: [], token: .start, isLast: true),
            ChangeBatch(records: Samples.records, token: Samples.token, isLast: false),
        ]
        return zip([UInt64(1), 0x1_0000_0001], batches).map { number, batch in
            let segment = Segment(zone: Samples.zone("ScorebookData"), batch: batch)
            return [
                "number": .decimal(number),
                "name": .string(Segment.name(number, of: author.author.id, logKey: key).description),
                "zone": .object(JSON.zone(segment.zone)), "batch": .object(JSON.batch(batch)),
                "nonce": .hex(nonce),
                "object": .hex(segment.sealed(as: number, in: log, logKey: key, by: author, nonce: nonce)),
            ]
        }
    }

    private static func pieces(_ author: AuthorSecrets) -> [JSON] {
        let key = author.key(of: epoch)
        let bytes = Array("a short file".utf8)
        let pieces: [([UInt8], AssetHash, Int)] = [
            (bytes, hash(of: bytes), 0), ([], hash(of: []), 0), ([9], Samples.hash(7), 2),
        ]
        return pieces.map { bytes, file, piece -> JSON in
            let name = FilePiece.name(piece, of: file, by: author.author.id, fileKey: key)
            let object = FilePiece.seal(
                bytes, piece, of: file, in: epoch, fileKey: key, by: author.author, nonce: nonce)
            return [
                "file": .hex(file.bytes), "piece": .number(piece), "name": .string(name.description),
                "bytes": .hex(bytes), "nonce": .hex(nonce), "object": .hex(object),
            ]
        }
    }

    private static func hash(of bytes: [UInt8]) -> AssetHash {
        AssetHash(BLAKE2b.hash(bytes, length: AssetHash.length))!
    }

    // MARK: Heads

    private static func section(
        _ author: AuthorSecrets, _ name: String, refused: [ZoneSection.Refused]?,
        damaged: [ZoneSection.Damaged] = []
    ) -> ZoneSection {
        ZoneSection(
            zone: Samples.zone(name), history: id(0x30), log: log, logKey: author.key(of: log),
            isWhole: false, base: 2,
            segments: 4, ends: [70, 71, 300],
            covered: ChangeToken(generation: Samples.token.generation, sequence: 310),
            generations: [
                .init(id: Samples.token.generation, first: 1),
                .init(id: [UInt8](repeating: 0xB0, count: 8), first: 305),
            ],
            forgotten: 12, digest: digest, readers: [ReplicaID(rawValue: 5), Samples.kitchen],
            read: [
                .init(
                    replica: Samples.kitchen, history: id(0x31), log: id(0x32), segment: 9,
                    token: ChangeToken(generation: Samples.token.generation, sequence: 8)),
                .init(replica: ReplicaID(rawValue: 5), history: id(0), log: id(0), segment: 0, token: nil),
            ],
            fileKeys: [.init(epoch: epoch, key: author.key(of: epoch))],
            offered: [.init(hash: Samples.hash(7), size: 70_000, key: 0)], wanted: [Samples.hash(8)],
            wantsMore: true, refused: refused, damaged: damaged)
    }

    /// A segment or a piece of one author, and the head of another one with the counter 7.
    private static var damaged: [ZoneSection.Damaged] {
        [
            .init(replica: ReplicaID(rawValue: 5), object: id(0x50)),
            .init(replica: Samples.kitchen, object: ObjectID((id(0x51) as AuthorID).headName(7))!),
        ]
    }

    /// A section of an author that says nothing of refused records is one, too.
    private static var refused: [ZoneSection.Refused] {
        [
            .init(
                replica: ReplicaID(rawValue: 5),
                records: [
                    .init(name: Samples.records[0].name, reason: 2),
                    .init(name: Samples.records[1].name, reason: 3),
                ], further: 0),
            .init(replica: Samples.kitchen, records: [], further: 70_000),
        ]
    }

    private static var digest: ZoneDigest {
        var digest = ZoneDigest()
        for record in Samples.records { digest.insert(record) }
        return digest
    }

    private static func heads(_ author: AuthorSecrets, _ readers: [AuthorSecrets]) throws -> [JSON] {
        let both = Head(
            time: Samples.moment,
            zones: [
                section(author, "ScorebookData", refused: refused, damaged: damaged),
                section(author, "club", refused: nil),
            ],
            household: HouseholdVectors.household,
            readers: [
                Head.Reader(key: readers[0].author.key, rights: [0: .write, 1: .read], hasHousehold: true),
                Head.Reader(key: readers[1].author.key, rights: [1: .write], hasHousehold: false),
            ])
        let nothing = Head(time: 0, zones: [], household: nil, readers: [])
        let later = Head(
            time: Samples.moment, zones: [], household: nil,
            readers: [Head.Reader(key: readers[0].author.key, rights: [:], hasHousehold: false)])
        let heads: [(counter: UInt64, head: Head, laterFields: [UInt8])] = [
            (1, nothing, []), (0x1_0000_0001, both, []), (2, later, [1, 2, 3]),
        ]
        return try heads.map { counter, head, laterFields in
            // Each random number is a repeated byte, one greater than that of the one before.
            let last = Mutex<UInt8>(0x40)
            let random = HeadCodec.Randomness(keepsOrder: true) { count in
                let byte = last.withLock { last in
                    last &+= 1
                    return last
                }
                return [UInt8](repeating: byte, count: count)
            }
            let object = HeadCodec.seal(
                head, counter: counter, by: author, random, laterFields: laterFields)
            let opened = try readers.map { reader in
                try HeadCodec.open(
                    object, of: author.author.id, counter: counter, by: author.author.key, as: reader)
            }
            return [
                "counter": .decimal(counter), "name": .string(author.author.id.headName(counter).description),
                "laterFields": .hex(laterFields), "object": .hex(object),
                "opened": .array(opened.map { JSON.optional($0, describe) }),
            ]
        }
    }

    private static func describe(_ head: OpenedHead) -> JSON {
        [
            "time": .decimal(head.time),
            "zones": .array(
                head.zones.map { zone in
                    .object([("rights", .number(Int(zone.rights.rawValue)))] + describe(zone.section))
                }),
            "household": JSON.optional(head.household) { .hex($0.encoded) },
        ]
    }

    private static func describe(_ refused: ZoneSection.Refused) -> JSON {
        [
            "replica": .digits(refused.replica.rawValue),
            "records": .array(
                refused.records.map {
                    ["name": .string($0.name.description), "reason": .number($0.reason)] as JSON
                }),
            "further": .number(refused.further),
        ]
    }

    private static func describe(_ section: ZoneSection) -> [(String, JSON)] {
        [
            ("zone", .object(JSON.zone(section.zone))), ("history", .hex(section.history.bytes)),
            ("log", .hex(section.log.bytes)), ("logKey", .hex(section.logKey)),
            ("whole", .bool(section.isWhole)),
            ("base", .number(section.base)), ("segments", .number(section.segments)),
            ("ends", .array(section.ends.map { .decimal($0) })), ("covered", .token(section.covered)),
            (
                "generations",
                .array(section.generations.map { ["id": .hex($0.id), "first": .decimal($0.first)] })
            ),
            ("forgotten", .decimal(section.forgotten)), ("count", .decimal(section.digest.count)),
            ("sum", .hex(section.digest.sumBytes)),
            ("readers", .array(section.readers.map { .digits($0.rawValue) })),
            (
                "read",
                .array(
                    section.read.map {
                        [
                            "replica": .digits($0.replica.rawValue), "history": .hex($0.history.bytes),
                            "log": .hex($0.log.bytes), "segment": .number($0.segment),
                            "token": .optional($0.token) { .token($0) },
                        ]
                    })
            ),
            (
                "fileKeys",
                .array(section.fileKeys.map { ["epoch": .hex($0.epoch.bytes), "key": .hex($0.key)] })
            ),
            (
                "offered",
                .array(
                    section.offered.map {
                        ["hash": .hex($0.hash.bytes), "size": .decimal($0.size), "key": .number($0.key)]
                    })
            ),
            ("wanted", .array(section.wanted.map { .hex($0.bytes) })),
            ("wantsMore", .bool(section.wantsMore)),
            ("refused", JSON.optional(section.refused) { .array($0.map(describe)) }),
            (
                "damaged",
                .array(
                    section.damaged.map {
                        ["replica": .digits($0.replica.rawValue), "object": .hex($0.object.bytes)]
                    })
            ),
        ]
    }
}

extension VectorFile {
    static func mailbox() throws -> VectorFile {
        try VectorFile(
            "mailbox.json",
            "The sealed objects of a mailbox. `author` has written everything; all keys follow from its static secret key. Every nonce of "
                + "segments and pieces is the one that stands there. In heads, each random number (section keys, the core key, then the "
                + "nonce of each slot, the slots without a reader, the nonces of the sections and of the core) is one byte, repeated: 41 "
                + "for the first, then 42 and so on; the slots stand in the order of the readers. `laterFields` is what a later version says in "
                + "the core, before the signature. `opened` has what each of `readers` opens, or null.",
            of: "mailbox.md", section: "2, 3, 4, 8", MailboxVectors.content())
    }
}
