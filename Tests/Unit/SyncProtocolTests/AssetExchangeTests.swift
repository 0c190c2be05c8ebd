import NIOCore
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncProtocol

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
            if let available = sender.nextAvailable() { messages.append(.assetsAvailable(available)) }
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
        right.sender.arrived([hash, Self.hash(2)])
        right.sender.arrived([hash])
        #expect(right.sender.nextAvailable() == [hash])
        #expect(right.sender.nextAvailable() == nil)
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

    /// What has come of an answer already counts.
    @Test func theLastBytesAreNoMoreThanIsLeftOfTheRequest() throws {
        var receiver = Self.asking()
        #expect(try receiver.received(Self.chunk(1, 0, 60_000)) == .write)
        #expect(throws: ProtocolError.self) { try receiver.received(Self.chunk(1, 60_000, 40_001)) }
        #expect(try receiver.received(Self.chunk(1, 60_000, 40_000)) == .write)
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

    /// While the last answers to the first request come, the file is not wanted any less.
    @Test func whatWaitsForOldAnswersIsStillToCome() throws {
        var receiver = Self.asking()
        _ = receiver.pause()
        receiver.resume()
        #expect(receiver.nextStep() == nil)
        #expect(!receiver.isIdle)
        #expect(receiver.remaining == Message.AssetsWanted(files: 1, bytes: 100_000))
        #expect(try receiver.received(Self.chunk(1, 0, 100_000)) == .drop)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 100_000))
    }

    /// However often there is no room, no more is asked for than the window.
    @Test func whatIsDroppedCountsAsUnderWay() throws {
        var receiver = AssetReceiver()
        for number in 0..<100 { receiver.want(Self.hash(number), size: 300_000) }
        var asked: UInt64 = 0
        for _ in 0..<20 {
            while let step = receiver.nextStep() {
                switch step {
                case .open(let hash, _): _ = receiver.opened(hash, at: 0)
                case .request(let request): asked += request.length
                case .finish: Issue.record("nothing has come")
                }
            }
            _ = receiver.pause()
            receiver.resume()
        }
        #expect(asked == UInt64(ProtocolLimits.assetWindow))
    }

    /// Two requests are on their way when the peer says that it lacks the file; the answer to the second is none to what is
    /// asked after the file has come there.
    @Test func eachRequestIsAnsweredOnce() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 3_000_000)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 3_000_000))
        #expect(receiver.opened(Self.hash(1), at: 0) == true)
        _ = receiver.nextStep()
        #expect(try receiver.received(Self.chunk(1, 0, 60_000)) == .write)
        receiver.wrote(Self.hash(1), count: 60_000)
        #expect(
            receiver.nextStep()
                == .request(Message.AssetRequest(hash: Self.hash(1), offset: 1 << 20, length: 60_000)))

        #expect(try receiver.isMissing(Self.hash(1)) == true)
        #expect(receiver.isIdle && receiver.unavailableCount == 1)
        receiver.areAvailable([Self.hash(1)])
        #expect(receiver.nextStep() == nil)
        #expect(try receiver.isMissing(Self.hash(1)) == false)
        #expect(receiver.unavailableCount == 0)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 3_000_000))
        #expect(throws: ProtocolError.self) { try receiver.isMissing(Self.hash(1)) }
    }

    /// Bytes may come in answer to a request after one that was not answered in full.
    @Test func bytesAfterAGapAreDropped() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 3_000_000)
        _ = receiver.nextStep()
        _ = receiver.opened(Self.hash(1), at: 0)
        _ = receiver.nextStep()
        _ = try receiver.received(Self.chunk(1, 0, 60_000))
        receiver.wrote(Self.hash(1), count: 60_000)
        _ = receiver.nextStep()
        #expect(try receiver.isMissing(Self.hash(1)) == true)
        #expect(try receiver.received(Self.chunk(1, 1 << 20, 60_000)) == .drop)
        #expect(!receiver.isAwaitingAnswers)
    }

    @Test func theSenderAnswersEachRequestOnce() throws {
        var sender = AssetSender()
        for (number, offset) in [(1, 0), (2, 0), (1, 10)] {
            try sender.received(
                Message.AssetRequest(hash: Self.hash(number), offset: UInt64(offset), length: 10))
        }
        sender.isMissing(Self.hash(1), isOwed: true)
        #expect(sender.nextPiece?.hash == Self.hash(2))
        sender.sent(10)
        #expect(sender.nextPiece?.hash == Self.hash(1))
        #expect(sender.nextPiece?.offset == 10)
        sender.isMissing(Self.hash(1), isOwed: true)
        #expect(sender.nextPiece == nil)
    }

    @Test func manyFilesThatComeLaterAreToldInBoundedMessages() throws {
        var sender = AssetSender()
        for number in 0..<2500 {
            try sender.received(Message.AssetRequest(hash: Self.hash(number), offset: 0, length: 1))
            sender.isMissing(Self.hash(number), isOwed: true)
        }
        sender.arrived((0..<2500).map(Self.hash))
        var told: [Int] = []
        while let hashes = sender.nextAvailable() { told.append(hashes.count) }
        #expect(told == [1024, 1024, 452])
    }

    /// Nothing more is asked of a peer that does not answer, until it does; others may have its files meanwhile.
    @Test func whoDoesNotAnswerIsNotWaitedFor() throws {
        var receiver = Self.asking()
        receiver.want(Self.hash(2), size: 10)
        #expect(receiver.isAwaitingAnswers)
        #expect(receiver.stall() == [Self.hash(1)])
        #expect(receiver.isIdle)
        #expect(receiver.remaining.files == 0)
        #expect(receiver.nextStep() == nil)
        #expect(try receiver.received(Self.chunk(1, 0, 60_000)) == .drop)
        #expect(!receiver.isIdle)
        #expect(receiver.nextStep() == .open(Self.hash(2), size: 10))
        #expect(receiver.nextStep() == nil)
        #expect(try receiver.isMissing(Self.hash(1)) == false)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 100_000))
    }

    // MARK: Waiting

    /// A pause while a file is being opened, and the answers to that after it, count the file once.
    @Test(
        arguments: [
            { $0.isBusy(hash(1)) }, { $0.notFinished(hash(1)) }, { $0.hasNoRoom(hash(1)) },
            { _ = $0.opened(hash(1), at: 0) },
        ] as [@Sendable (inout AssetReceiver) -> Void])
    func aFileThatWasGivenUpWhileItWasOpened(answer: @Sendable (inout AssetReceiver) -> Void) throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 10)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 10))
        #expect(receiver.pause() == [Self.hash(1)])
        answer(&receiver)
        receiver.resume()
        receiver.retryBusy()
        #expect(receiver.remaining == Message.AssetsWanted(files: 1, bytes: 10))
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 10))
        for _ in 0..<20 { receiver.isBusy(Self.hash(1)) }
        #expect(receiver.remaining == Message.AssetsWanted(files: 1, bytes: 10))
        #expect(receiver.hasBusy)
        #expect(receiver.nextStep() == nil)
    }

    /// A peer is not let go because another session asks somebody else for the file at this moment, who may not have it;
    /// but it does not wait for long transfers of others.
    @Test func aFileIsElsewhereWhenItStaysBusy() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 10)
        for _ in 0..<8 {
            #expect(!receiver.isIdle)
            receiver.retryBusy()
            #expect(receiver.nextStep() == .open(Self.hash(1), size: 10))
            receiver.isBusy(Self.hash(1))
        }
        #expect(receiver.isIdle && receiver.hasBusy)
        #expect(receiver.remaining == Message.AssetsWanted(files: 0, bytes: 0))
    }

    /// While it is looked whether there is room now, nobody is told of files to come.
    @Test func whoTriesAgainExpectsNothing() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 10)
        for _ in 0..<3 {
            receiver.retryTooLarge()
            #expect(receiver.nextStep() == .open(Self.hash(1), size: 10))
            receiver.hasNoRoom(Self.hash(1))
            #expect(receiver.isIdle)
        }
        receiver.retryTooLarge()
        #expect(receiver.isIdle)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 10))
        #expect(receiver.isIdle)
        #expect(receiver.opened(Self.hash(1), at: 0) == true)
        #expect(receiver.remaining.files == 1)
    }

    /// What does not fit keeps nothing else waiting.
    @Test func aFileWithoutRoomIsPutAside() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 1 << 30)
        receiver.want(Self.hash(2), size: 10)
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 1 << 30))
        receiver.hasNoRoom(Self.hash(1))
        #expect(receiver.remaining == Message.AssetsWanted(files: 1, bytes: 10))
        #expect(receiver.nextStep() == .open(Self.hash(2), size: 10))
        receiver.isPresent(Self.hash(2))
        #expect(receiver.isIdle && receiver.hasTooLarge)
    }

    @Test func whatSomebodyWaitsForComesFirst() throws {
        var receiver = AssetReceiver()
        for number in 0..<20 { receiver.want(Self.hash(number), size: 10) }
        receiver.want(Self.hash(15), size: 10, isUrgent: true)
        receiver.want(Self.hash(99), size: 10, isUrgent: true)
        var opened: [AssetHash] = []
        while case .open(let hash, _) = receiver.nextStep() {
            opened.append(hash)
            receiver.isPresent(hash)
        }
        #expect(opened == [15, 99].map(Self.hash) + (0..<20).filter { $0 != 15 }.map(Self.hash))
    }

    /// A smaller policy, a deletion or a wish that was withdrawn: what is under way goes on, the rest is not asked for.
    @Test func whatIsNotWantedAnyMoreIsDropped() throws {
        var receiver = Self.asking()
        for number in 2...5 { receiver.want(Self.hash(number), size: 10) }
        _ = receiver.nextStep()
        receiver.isBusy(Self.hash(2))
        receiver.keepOnly([Self.hash(4)])
        #expect(!receiver.hasBusy)
        #expect(receiver.remaining == Message.AssetsWanted(files: 2, bytes: 100_010))
        #expect(receiver.nextStep() == .open(Self.hash(4), size: 10))
        #expect(receiver.nextStep() == nil)
        _ = try receiver.isMissing(Self.hash(1))
        receiver.keepOnly([Self.hash(4)])
        #expect(receiver.unavailableCount == 0)
        receiver.areAvailable([Self.hash(1)])
        #expect(receiver.nextStep() == nil)
    }

    @Test func anotherSizeIsAnotherQuestion() throws {
        var receiver = Self.asking()
        _ = try receiver.isMissing(Self.hash(1))
        receiver.want(Self.hash(1), size: 100_000)
        #expect(receiver.nextStep() == nil)
        receiver.want(Self.hash(1), size: 5)
        receiver.want(Self.hash(1), size: 7)
        #expect(receiver.remaining == Message.AssetsWanted(files: 1, bytes: 7))
        #expect(receiver.nextStep() == .open(Self.hash(1), size: 7))
    }

    // MARK: Bytes that are not those of the hash

    @Test func whoSentOtherBytesIsNotAskedAgain() throws {
        var receiver = Self.asking()
        #expect(try receiver.received(Self.chunk(1, 0, 100_000)) == .write)
        receiver.wrote(Self.hash(1), count: 100_000)
        #expect(receiver.nextStep() == .finish(Self.hash(1)))
        #expect(receiver.finished(Self.hash(1), isIntact: false) == true)
        receiver.want(Self.hash(1), size: 100_000)
        #expect(receiver.nextStep() == nil)
        #expect(receiver.isIdle)
    }

    /// What somebody else has left may be what is wrong; once.
    @Test func aRestFromBeforeIsNotBlamedOnThePeer() throws {
        var receiver = AssetReceiver()
        receiver.want(Self.hash(1), size: 100)
        for begin in [100, 40] {
            _ = receiver.nextStep()
            #expect(receiver.opened(Self.hash(1), at: Int64(begin)) == true)
            if begin < 100 {
                _ = receiver.nextStep()
                _ = try receiver.received(Self.chunk(1, UInt64(begin), 100 - begin))
                receiver.wrote(Self.hash(1), count: 100 - begin)
            }
            #expect(receiver.nextStep() == .finish(Self.hash(1)))
            #expect(receiver.finished(Self.hash(1), isIntact: false) == (begin < 100))
        }
        #expect(receiver.unavailableCount == 1)
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
