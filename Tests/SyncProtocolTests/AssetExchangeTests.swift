import NIOCore
import SeededRandom
import SyncModel
import Testing

@testable import SyncProtocol

/// Two sides that exchange files: everything comes, nothing comes that was not asked for, and what is under way is bounded.
struct AssetExchangeTests {
    /// One side's files, and what it makes of the other's messages.
    struct Side {
        var files: [AssetHash: [UInt8]] = [:]
        var partial: [AssetHash: [UInt8]] = [:]
        var receiver = AssetReceiver()
        var sender = AssetSender()
        var mostUnderWay: Int64 = 0
        var received = 0

        mutating func steps() -> [Message] {
            var messages: [Message] = []
            while let step = receiver.nextStep() {
                switch step {
                case .open(let hash, _): _ = receiver.opened(hash, at: Int64(partial[hash]?.count ?? 0))
                case .request(let request): messages.append(.assetRequest(request))
                case .finish(let hash):
                    files[hash] = partial.removeValue(forKey: hash) ?? []
                    receiver.finished(hash, isIntact: true)
                }
            }
            while let piece = sender.nextPiece {
                guard let file = files[piece.hash], file.count >= Int(piece.offset) + piece.count else {
                    sender.isMissing(piece.hash, isOwed: true)
                    messages.append(.assetMissing(piece.hash))
                    continue
                }
                let bytes = file[Int(piece.offset)..<Int(piece.offset) + piece.count]
                sender.sent(piece.count)
                messages.append(
                    .assetChunk(
                        Message.AssetChunk(
                            hash: piece.hash, offset: piece.offset, bytes: ByteBuffer(bytes: bytes))))
            }
            return messages
        }

        mutating func receive(_ message: Message) throws {
            switch message {
            case .assetRequest(let request): try sender.received(request)
            case .assetChunk(let chunk):
                received += chunk.bytes.readableBytes
                guard try receiver.received(chunk) == .write else { return }
                partial[chunk.hash, default: []] += Array(chunk.bytes.readableBytesView)
                receiver.wrote(chunk.hash, count: chunk.bytes.readableBytes)
            case .assetMissing(let hash): _ = try receiver.isMissing(hash)
            case .assetsAvailable(let hashes): receiver.areAvailable(hashes)
            default: Issue.record("\(message)")
            }
        }
    }

    static func hash(_ number: Int) -> AssetHash {
        AssetHash((0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })!
    }

    static func files(_ numbers: Range<Int>, _ generator: inout SeededGenerator) -> [AssetHash: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: numbers.map { number in
                let length = [0, 1, 5_000, 65_280, 65_281, 400_000].randomElement(using: &generator)!
                return (hash(number), [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length))
            })
    }

    /// Passes messages on until nothing moves, or so many have been.
    static func exchange(_ left: inout Side, _ right: inout Side, messages limit: Int = .max) throws {
        var count = 0
        while true {
            let fromLeft = left.steps()
            let fromRight = right.steps()
            if fromLeft.isEmpty, fromRight.isEmpty { return }
            for message in fromLeft {
                count += 1
                guard count <= limit else { return }
                try right.receive(message)
            }
            for message in fromRight {
                count += 1
                guard count <= limit else { return }
                try left.receive(message)
            }
        }
    }

    static func want(_ side: inout Side, _ files: [AssetHash: [UInt8]]) {
        for (hash, bytes) in files.sorted(by: { $0.key < $1.key }) where side.files[hash] == nil {
            side.receiver.want(hash, size: Int64(bytes.count))
        }
    }

    @Test func bothSidesGetWhatTheOtherHas() throws {
        var generator = SeededGenerator(seed: 1)
        var left = Side(files: Self.files(0..<40, &generator))
        var right = Side(files: Self.files(30..<70, &generator))
        let all = left.files.merging(right.files) { first, _ in first }
        right.files.merge(left.files.filter { right.files[$0.key] != nil }) { $1 }
        Self.want(&left, all)
        Self.want(&right, all)
        #expect(left.receiver.remaining.files == 30)
        try Self.exchange(&left, &right)
        #expect(left.files == all)
        #expect(right.files == all)
        #expect(left.receiver.isIdle && right.receiver.isIdle)
        #expect(left.receiver.remaining == Message.AssetsWanted(files: 0, bytes: 0))
    }

    /// Whatever is cut goes on where it was: no byte travels twice but those that were on their way.
    @Test func whatIsCutGoesOn() throws {
        var generator = SeededGenerator(seed: 2)
        var left = Side()
        var right = Side(files: Self.files(0..<60, &generator))
        let total = right.files.values.reduce(0) { $0 + $1.count }
        var cuts = 0
        var lost = 0
        while left.files != right.files {
            left.receiver = AssetReceiver()
            right.sender = AssetSender()
            Self.want(&left, right.files)
            let before = left.received
            try Self.exchange(&left, &right, messages: Int.random(in: 1...30, using: &generator))
            lost += left.received - before
            cuts += 1
        }
        #expect(cuts > 5)
        #expect(lost == total)
    }

    @Test func whatIsUnderWayIsBounded() throws {
        var receiver = AssetReceiver()
        for number in 0..<100 { receiver.want(Self.hash(number), size: 300_000) }
        var asked: UInt64 = 0
        var open = 0
        while let step = receiver.nextStep() {
            switch step {
            case .open(let hash, _):
                open += 1
                _ = receiver.opened(hash, at: 0)
            case .request(let request): asked += request.length
            case .finish: Issue.record("nothing has come")
            }
        }
        #expect(asked == UInt64(ProtocolLimits.assetWindow))
        #expect(open <= ProtocolLimits.openAssets)
    }

    @Test func aFileThatComesLaterIsTold() throws {
        let hash = Self.hash(1)
        var left = Side()
        var right = Side()
        Self.want(&left, [hash: [1, 2, 3]])
        try Self.exchange(&left, &right)
        #expect(left.receiver.isIdle)
        #expect(left.receiver.unavailableCount == 1)
        right.files[hash] = [1, 2, 3]
        #expect(right.sender.arrived([hash, Self.hash(2)]) == [hash])
        #expect(right.sender.arrived([hash]) == [])
        try left.receive(.assetsAvailable([hash, Self.hash(2)]))
        try Self.exchange(&left, &right)
        #expect(left.files == right.files)
    }

    /// A receiver that has asked for 100,000 bytes of one file.
    static func asking() -> AssetReceiver {
        var receiver = AssetReceiver()
        receiver.want(hash(1), size: 100_000)
        while let step = receiver.nextStep() {
            if case .open(let hash, _) = step { _ = receiver.opened(hash, at: 0) }
        }
        return receiver
    }

    static func chunk(_ number: Int, _ offset: UInt64, _ count: Int) -> Message.AssetChunk {
        Message.AssetChunk(
            hash: hash(number), offset: offset, bytes: ByteBuffer(repeating: 1, count: count))
    }

    @Test(arguments: [
        chunk(2, 0, 10), chunk(1, 1, 10), chunk(1, 0, 0), chunk(1, 0, 100_001), chunk(1, .max, 1),
    ])
    func bytesThatNobodyAskedForAreRefused(chunk: Message.AssetChunk) throws {
        var receiver = Self.asking()
        #expect(throws: ProtocolError.self) { try receiver.received(chunk) }
    }

    @Test func aFileIsNotMissingTwice() throws {
        var receiver = Self.asking()
        #expect(try receiver.isMissing(Self.hash(1)) == true)
        #expect(throws: ProtocolError.self) { try receiver.isMissing(Self.hash(1)) }
    }

    /// What was asked for before there was no room still comes, and is dropped; then the file is asked for from where it
    /// was.
    @Test func whatComesDuringAPauseIsDropped() throws {
        var receiver = Self.asking()
        #expect(try receiver.received(Self.chunk(1, 0, 60_000)) == .write)
        receiver.wrote(Self.hash(1), count: 60_000)
        #expect(receiver.pause() == [Self.hash(1)])
        #expect(receiver.isIdle)
        #expect(receiver.nextStep() == nil)
        receiver.resume()
        // It is not asked for a second time while the first answer is on its way.
        #expect(receiver.nextStep() == nil)
        #expect(try receiver.received(Self.chunk(1, 60_000, 40_000)) == .drop)
        receiver.retryBusy()
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 100_000))
        #expect(receiver.opened(Self.hash(1), at: 60_000) == true)
        #expect(
            receiver.nextStep()
                == .request(Message.AssetRequest(hash: Self.hash(1), offset: 60_000, length: 40_000)))
    }

    @Test func whoSentOtherBytesIsNotAskedAgain() throws {
        var receiver = Self.asking()
        #expect(try receiver.received(Self.chunk(1, 0, 100_000)) == .write)
        receiver.wrote(Self.hash(1), count: 100_000)
        #expect(receiver.nextStep() == .finish(Self.hash(1)))
        receiver.finished(Self.hash(1), isIntact: false)
        receiver.want(Self.hash(1), size: 100_000)
        #expect(receiver.nextStep() == nil)
        #expect(receiver.isIdle)
    }

    @Test func requestsAreBounded() throws {
        var sender = AssetSender()
        let limit = UInt64(ProtocolLimits.maximumAssetsRequested)
        #expect(throws: ProtocolError.self) {
            try sender.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: 0))
        }
        #expect(throws: ProtocolError.self) {
            try sender.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: limit + 1))
        }
        try sender.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: limit))
        #expect(throws: ProtocolError.self) {
            try sender.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: 1))
        }
        var many = AssetSender()
        for _ in 0..<ProtocolLimits.maximumAssetRequests {
            try many.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: 1))
        }
        #expect(throws: ProtocolError.self) {
            try many.received(Message.AssetRequest(hash: Self.hash(1), offset: 0, length: 1))
        }
    }

    @Test func aChunkWithItsHeadFillsOneFrame() {
        var buffer = ByteBuffer()
        MessageCodec.encode(
            .assetChunk(
                Message.AssetChunk(
                    hash: Self.hash(1), offset: UInt64(Asset.maximumSize),
                    bytes: ByteBuffer(repeating: 0, count: ProtocolLimits.assetChunk))), into: &buffer)
        #expect(buffer.readableBytes <= ProtocolLimits.maximumFrame - 16)
    }
}
