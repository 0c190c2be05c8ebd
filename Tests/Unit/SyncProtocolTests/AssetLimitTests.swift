import NIOCore
import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// How many files are open, asked for and owed, and that what was counted is uncounted.
struct AssetLimitTests {
    private func hash(_ number: Int) -> AssetHash { AssetExchangeTests.hash(number) }

    private func chunk(_ number: Int, _ offset: Int64, _ count: Int64) -> Message.AssetChunk {
        Message.AssetChunk(
            hash: hash(number), offset: UInt64(offset), bytes: ByteBuffer(repeating: 1, count: Int(count)))
    }

    /// Whoever opens files takes time, and is not given more of them meanwhile.
    @Test func soManyFilesAreOpenedAtATime() {
        var receiver = AssetReceiver()
        for number in 0..<20 { receiver.want(hash(number), size: 10) }
        var opened: [AssetHash] = []
        while case .open(let hash, _)? = receiver.nextStep() { opened.append(hash) }
        #expect(opened.count == ProtocolLimits.openAssets)
        receiver.isPresent(opened[0])
        #expect(receiver.nextStep() == .open(hash(ProtocolLimits.openAssets), size: 10))
        #expect(receiver.nextStep() == nil)
    }

    /// So files become whole, of which many would otherwise be half there when the connection is cut.
    @Test func theSmallestRestIsAskedForFirst() {
        var receiver = AssetReceiver()
        let sizes: [Int64] = [900_000, 300, 70_000]
        for (number, size) in sizes.enumerated() { receiver.want(hash(number), size: size) }
        for _ in sizes { _ = receiver.nextStep() }
        // Most of the first one is there.
        for (number, offset) in [899_900, 0, 0].enumerated() {
            #expect(receiver.opened(hash(number), at: Int64(offset)) == true)
        }
        var asked: [AssetHash] = []
        while case .request(let request)? = receiver.nextStep() { asked.append(request.hash) }
        #expect(asked == [0, 1, 2].map(hash))
    }

    /// A receiver that waits for a window's bytes of a file that is larger.
    private func full() -> AssetReceiver {
        var receiver = AssetReceiver()
        receiver.want(hash(1), size: 3 * ProtocolLimits.assetWindow)
        _ = receiver.nextStep()
        #expect(receiver.opened(hash(1), at: 0) == true)
        #expect(receiver.nextStep() == request(1, 0, ProtocolLimits.assetWindow))
        #expect(receiver.nextStep() == nil)
        return receiver
    }

    private func request(_ number: Int, _ offset: Int64, _ length: Int64) -> AssetReceiver.Step {
        .request(Message.AssetRequest(hash: hash(number), offset: UInt64(offset), length: UInt64(length)))
    }

    /// What nobody wants any more is on its way until it has come, and then there is room for as much.
    @Test func whatWasDroppedMakesRoomWhenItHasCome() throws {
        var receiver = full()
        #expect(receiver.pause() == [hash(1)])
        receiver.resume()
        #expect(try receiver.received(chunk(1, 0, ProtocolLimits.assetWindow)) == .drop)
        #expect(receiver.nextStep() == .open(hash(1), size: 3 * ProtocolLimits.assetWindow))
        #expect(receiver.opened(hash(1), at: 0) == true)
        #expect(receiver.nextStep() == request(1, 0, ProtocolLimits.assetWindow))
    }

    @Test func whatWasDroppedMakesRoomWhenItIsMissing() throws {
        var receiver = full()
        #expect(receiver.pause() == [hash(1)])
        receiver.resume()
        #expect(try receiver.isMissing(hash(1)) == false)
        #expect(receiver.nextStep() == .open(hash(1), size: 3 * ProtocolLimits.assetWindow))
        #expect(receiver.opened(hash(1), at: 0) == true)
        #expect(receiver.nextStep() == request(1, 0, ProtocolLimits.assetWindow))
    }

    /// Any answer shows that the peer is there again, also that it lacks what it was asked for.
    @Test func whoAnswersThatItLacksAFileIsAskedAgain() throws {
        var receiver = full()
        #expect(receiver.stall() == [hash(1)])
        #expect(receiver.isIdle)
        #expect(try receiver.isMissing(hash(1)) == false)
        #expect(!receiver.isIdle)
        #expect(receiver.nextStep() == .open(hash(1), size: 3 * ProtocolLimits.assetWindow))
    }

    /// A file that somebody waits for stands in two lines, and is taken out of both.
    @Test func aBusyFileIsNotOpenedBeforeItIsTriedAgain() {
        var receiver = AssetReceiver()
        for number in 1...2 { receiver.want(hash(number), size: 10) }
        receiver.want(hash(2), size: 10, isUrgent: true)
        #expect(receiver.nextStep() == .open(hash(2), size: 10))
        receiver.isBusy(hash(2))
        #expect(receiver.nextStep() == .open(hash(1), size: 10))
        #expect(receiver.nextStep() == nil)
        receiver.retryBusy()
        #expect(receiver.nextStep() == .open(hash(2), size: 10))
    }

    /// A file that was busy, and then has no room, is waited for as one that has no room.
    @Test func aFileWaitsForOneThing() {
        var receiver = AssetReceiver()
        receiver.want(hash(1), size: 10)
        _ = receiver.nextStep()
        receiver.isBusy(hash(1))
        #expect(receiver.hasBusy && !receiver.hasTooLarge)
        receiver.retryBusy()
        _ = receiver.nextStep()
        receiver.hasNoRoom(hash(1))
        #expect(!receiver.hasBusy && receiver.hasTooLarge)
        receiver.retryTooLarge()
        _ = receiver.nextStep()
        receiver.isBusy(hash(1))
        #expect(receiver.hasBusy && !receiver.hasTooLarge)
    }

    /// Whoever asks for files that do not exist makes this side remember no more than so many.
    @Test func whatIsOwedIsBounded() throws {
        var sender = AssetSender()
        for number in 0...ProtocolLimits.maximumTableEntries {
            try sender.received(Message.AssetRequest(hash: hash(number), offset: 0, length: 1))
            sender.isMissing(hash(number), isOwed: true)
        }
        #expect(sender.owed.count == ProtocolLimits.maximumTableEntries)
        try sender.received(Message.AssetRequest(hash: hash(-1), offset: 0, length: 1))
        sender.isMissing(hash(-1), isOwed: false)
        #expect(!sender.owed.contains(hash(-1)))
    }
}
