import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// The objects of a mailbox: what opens, for whom, and what never does.
@Suite struct MailboxFormatTests {
    private let author = AuthorSecrets(Self.pair(1), app: "org.example.items")
    private let reader = AuthorSecrets(Self.pair(2), app: "org.example.items")
    private let stranger = AuthorSecrets(Self.pair(3), app: "org.example.items")

    private static func pair(_ byte: UInt8) -> KeyPair {
        try! KeyPair(secretKey: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func hash(_ byte: UInt8) -> AssetHash { AssetHash([UInt8](repeating: byte, count: 32))! }

    /// The values of the paper (Nikitin et al., 2019): at most 12 % more.
    @Test func paddedLengthsTellFewBits() {
        #expect(
            [0, 1, 2, 8, 9, 10, 100, 1000, 1_000_000].map(Padding.padded) == [
                0, 1, 2, 8, 10, 10, 104, 1024, 1_015_808,
            ])
        for length in 1...5000 {
            let padded = Padding.padded(length)
            #expect(padded >= length && padded - length <= length * 12 / 100 + 1)
            #expect(Padding.padded(padded) == padded)
        }
    }

    @Test(arguments: [0, 1, 2, 7, 100, 70_000]) func paddingComesOff(count: Int) throws {
        let plaintext = [UInt8](repeating: 0, count: count)
        #expect(try Padding.remove(from: Padding.add(to: plaintext)) == plaintext)
    }

    @Test(arguments: [[], [0, 0, 0], [1, 2, 0]] as [[UInt8]]) func bytesWithoutPaddingAreDamaged(
        bytes: [UInt8]
    ) {
        #expect(throws: DamagedObject.self) { try Padding.remove(from: bytes) }
    }

    private var segment: Segment {
        let stamp = Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 7))
        let state = RecordState(
            name: try! RecordName("Item|~|1"),
            sortedFields: [RecordField(name: "title", value: .text("Figs"), stamp: stamp)],
            deletion: nil, revival: nil, erasure: nil)
        return Segment(
            zone: ZoneID(name: .standard, owner: ReplicaID(rawValue: 9)),
            batch: ChangeBatch(
                records: [state], token: ChangeToken(generation: [1, 2, 3, 4, 5, 6, 7, 8], sequence: 5),
                isLast: true))
    }

    @Test func aSegmentOpensInItsPlaceOnly() throws {
        let (log, other) = (LogID.random(), LogID.random())
        let key = author.key(of: log)
        let object = segment.sealed(as: 3, in: log, logKey: key, by: author)
        let open = { (number: UInt64, log: LogID, writer: AuthorSecrets, verifier: AuthorSecrets) in
            try Segment(
                object, number: number, of: log, logKey: key, by: writer.author,
                verificationKey: verifier.verificationKey)
        }
        #expect(try open(3, log, author, author) == segment)
        #expect(throws: DamagedObject.self) { try open(4, log, author, author) }
        #expect(throws: DamagedObject.self) { try open(3, other, author, author) }
        #expect(throws: DamagedObject.self) { try open(3, log, reader, author) }
        #expect(throws: DamagedObject.self) { try open(3, log, author, reader) }
    }

    /// Who may read a log knows its key, and still cannot write in it.
    @Test func aReaderCannotForgeASegment() throws {
        let log = LogID.random()
        let key = author.key(of: log)
        let forged = Segment(zone: segment.zone, batch: segment.batch)
        // The forger seals with its own signing key under the author's name.
        let forger = AuthorSecrets(Self.pair(2), app: "org.example.items")
        let object = forged.sealed(as: 1, in: log, logKey: key, by: forger)
        #expect(throws: DamagedObject.self) {
            try Segment(
                object, number: 1, of: log, logKey: key, by: author.author,
                verificationKey: author.verificationKey)
        }
    }

    @Test func aSegmentWithAnyChangedByteIsDamaged() throws {
        let log = LogID.random()
        let key = author.key(of: log)
        let object = segment.sealed(as: 1, in: log, logKey: key, by: author)
        for index in object.indices {
            var changed = object
            changed[index] ^= 0x10
            #expect(throws: DamagedObject.self) {
                try Segment(
                    changed, number: 1, of: log, logKey: key, by: author.author,
                    verificationKey: author.verificationKey)
            }
        }
        for count in 0..<object.count {
            #expect(throws: DamagedObject.self) {
                try Segment(
                    Array(object.prefix(count)), number: 1, of: log, logKey: key, by: author.author,
                    verificationKey: author.verificationKey)
            }
        }
    }

    private var section: ZoneSection {
        ZoneSection(
            zone: segment.zone, history: .random(), log: .random(), logKey: [UInt8](repeating: 5, count: 32),
            isWhole: true, base: 2,
            segments: 4, ends: [10, 12, 12], covered: ChangeToken(generation: [1], sequence: 20),
            generations: [.init(id: [1], first: 0), .init(id: [2], first: 11)], forgotten: 3,
            digest: ZoneDigest(),
            readers: [ReplicaID(rawValue: 1)],
            read: [
                .init(
                    replica: ReplicaID(rawValue: 1), history: .random(), log: .random(), segment: 9,
                    token: nil)
            ],
            fileKeys: [.init(epoch: .random(), key: [UInt8](repeating: 6, count: 32))],
            offered: [.init(hash: Self.hash(1), size: 1, key: 0)],
            wanted: [Self.hash(2)],
            wantsMore: false)
    }

    private func head(_ section: ZoneSection) -> Head {
        Head(
            time: 1234, zones: [section], household: Household(),
            readers: [Head.Reader(key: reader.author.key, rights: [0: .read], hasHousehold: false)])
    }

    private func open(_ object: [UInt8], counter: UInt64 = 7, as who: AuthorSecrets) throws -> OpenedHead? {
        try HeadCodec.open(object, of: author.author.id, counter: counter, by: author.author.key, as: who)
    }

    @Test func aHeadOpensForItsReadersAlone() throws {
        let section = section
        let object = HeadCodec.seal(head(section), counter: 7, by: author)
        let opened = try #require(try open(object, as: reader))
        #expect(opened.zones.map(\.section) == [section])
        #expect(opened.zones.map(\.rights) == [.read])
        #expect(opened.household == nil)
        #expect(opened.time == 1234)
        #expect(try open(object, as: stranger) == nil)
        // Under another counter it is nothing to anybody.
        #expect(try open(object, counter: 8, as: reader) == nil)
    }

    @Test func aHeadWithAChangedByteOpensForNobody() throws {
        let object = HeadCodec.seal(head(section), counter: 7, by: author)
        for index in stride(from: 0, to: object.count, by: 3) {
            var changed = object
            changed[index] ^= 0x21
            #expect((try? open(changed, as: reader)) == nil)
        }
    }

    @Test func headsTellTheNumberOfReadersUpToEightOnly() throws {
        let length = { (count: Int) in
            let readers = (0..<count).map { index in
                Head.Reader(
                    key: Self.pair(UInt8(10 + index)).publicKey.bytes, rights: [0: .write], hasHousehold: true
                )
            }
            let head = Head(time: 1, zones: [section], household: Household(), readers: readers)
            return HeadCodec.seal(head, counter: 1, by: author).count
        }
        #expect(Set((1...8).map(length)).count == 1)
        #expect(length(9) > length(8))
    }

    private func decode(_ section: ZoneSection, and appendix: [UInt8] = []) throws -> ZoneSection {
        var buffer = ByteBuffer()
        section.encode(into: &buffer)
        buffer.writeBytes(appendix)
        return try ZoneSection(decoding: &buffer)
    }

    /// Sections of programs that know less end earlier, those of programs that know more go on.
    @Test func aSectionMayEndBeforeTheRefusedRecordsAndGoOnBehindThem() throws {
        var section = section
        #expect(try decode(section) == section)
        section.refused = [
            .init(
                replica: ReplicaID(rawValue: 7),
                records: [.init(name: try RecordName("Item|~|1"), reason: 255)], further: 9)
        ]
        #expect(try decode(section) == section)
        #expect(try decode(section, and: [1, 2, 3]) == section)
    }

    /// One author and one record, then what is wrong with it.
    @Test(
        arguments: [
            [1], [1, 0, 0, 0, 0, 0, 0, 0, 7], [1, 0, 0, 0, 0, 0, 0, 0, 7, 0x40, 65],
            [1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2, 0x41, 0x42, 2, 0],
            [1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 5, 0x41, 0x7C, 0x7E, 0x7C, 0x31, 0x41, 0, 0],
            [1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0xC0, 0, 0, 0, 0x40, 0, 0, 0], [0x43, 0xE9],
        ] as [[UInt8]]) func refusedRecordsThatAreNoneAreMalformed(bytes: [UInt8])
    {
        #expect(throws: ProtocolError.self) { try decode(section, and: bytes) }
    }

    @Test func aPieceOpensForItsFileAndPlaceAlone() throws {
        let (file, other) = (Self.hash(1), Self.hash(2))
        let epoch = FileEpoch.random()
        let key = author.key(of: epoch)
        let object = FilePiece.seal([1, 2], 0, of: file, in: epoch, fileKey: key, by: author.author)
        #expect(
            try FilePiece.open(object, 0, of: file, in: epoch, fileKey: key, by: author.author) == [1, 2])
        #expect(throws: DamagedObject.self) {
            try FilePiece.open(object, 1, of: file, in: epoch, fileKey: key, by: author.author)
        }
        #expect(throws: DamagedObject.self) {
            try FilePiece.open(object, 0, of: other, in: epoch, fileKey: key, by: author.author)
        }
        #expect([0, 1, 1 << 20, (1 << 20) + 1].map(FilePiece.count) == [1, 1, 1, 2])
    }

    /// What a reader holds is found in a log by the runs that numbered it.
    @Test(
        arguments: [
            (1, 10, 2), (1, 9, nil), (2, 12, 4), (2, 11, 2), (1, 12, nil), (9, 12, nil),
        ] as [(UInt8, Int64, Int?)])
    func aTokenOfTheHistoryCoversItsSegments(generation: UInt8, sequence: Int64, last: Int?) {
        #expect(
            section.lastSegment(coveredBy: ChangeToken(generation: [generation], sequence: sequence)) == last)
    }

    @Test func namesOfHeadsAreRead() {
        let id = author.author.id
        let parsed = AuthorID.parse(id.headName(77))
        #expect(parsed?.author == id && parsed?.counter == 77)
        for text in ["heads/00", "heads/\(id.hex)-1", "other/\(id.hex)-0000000000000001"] {
            #expect(MailboxObjectName(text).flatMap(AuthorID.parse) == nil)
        }
    }
}
