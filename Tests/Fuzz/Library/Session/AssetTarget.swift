import AssetModel
import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// The exchange of files.
enum AssetTarget {
    private static let mostSteps = 20_000

    /// Around the bounds of one piece and of what is on its way.
    private static let sizes: [Int64] = [0, 1, 1000, 65_280, 65_281, 300_000, 1 << 20, 1_200_000]

    static func size(_ hash: AssetHash) -> Int64 { sizes[Int(hash.bytes[0])] }

    /// Something that happens here, whatever the peer does.
    private static func happen(_ operation: Int, _ input: inout FuzzInput, _ side: inout ModelAssets)
        throws
    {
        switch operation {
        case 0:
            let hash = input.pick(FuzzRecords.hashes)
            side.receiver.want(hash, size: size(hash), isUrgent: input.flag())
        case 1: side.luck = input.pick([.good, .busy, .noRoom, .full, .broken])
        case 2: side.pause()
        case 3: side.receiver.resume()
        case 4: side.stall()
        case 5: side.receiver.retryBusy()
        case 6: side.receiver.retryTooLarge()
        default:
            let hash = input.pick(FuzzRecords.hashes)
            try side.put(hash, size: size(hash))
        }
    }

    // MARK: A hostile peer

    static func hostile(_ input: inout FuzzInput) throws {
        var side = ModelAssets()
        do {
            while !input.isAtEnd {
                let operation = input.number(below: 16)
                switch operation {
                case 0...6: try happen(operation, &input, &side)
                case 7:
                    side.receiver.keepOnly([input.pick(FuzzRecords.hashes), input.pick(FuzzRecords.hashes)])
                case 8:
                    // Another size than the one before: records of the peer say so.
                    side.receiver.want(input.pick(FuzzRecords.hashes), size: input.pick(sizes + [2 << 30]))
                case 9: try side.step(input.pick(ModelAssets.Strand.allCases))
                case 10: try settle(&side)
                default:
                    side.inbox.append(message(&input, side))
                    try side.step(.messages)
                }
            }
            try settle(&side)
        } catch let error as ProtocolError {
            try expect(error.code == .unexpectedMessage, "\(error) because of a message")
        }
    }

    /// Goes on until nothing is left to do, which must be soon.
    private static func settle(_ side: inout ModelAssets) throws {
        var steps = 0
        var didWork = true
        while didWork {
            didWork = false
            for strand in ModelAssets.Strand.allCases {
                while try side.step(strand) {
                    didWork = true
                    steps += 1
                    try expect(steps < mostSteps, "a side alone does not come to rest")
                }
            }
        }
    }

    static func message(_ input: inout FuzzInput, _ side: ModelAssets) -> Message {
        let hash = input.pick(FuzzRecords.hashes)
        let first = side.asked.first
        switch input.number(below: 8) {
        // An answer that fits.
        case 0, 1, 2:
            guard let first else { return .assetsAvailable([hash]) }
            guard input.number(below: 4) > 0 else { return .assetMissing(first.hash) }
            let count = min(Int(first.length), ProtocolLimits.assetChunk - Int(input.byte()))
            return .assetChunk(
                Message.AssetChunk(
                    hash: first.hash, offset: first.offset, bytes: ModelAssets.bytes(count)))
        case 3:
            return .assetChunk(
                Message.AssetChunk(
                    hash: hash, offset: input.uint64() >> 2, bytes: ModelAssets.bytes(Int(input.byte()))))
        case 4: return .assetMissing(hash)
        case 5:
            return .assetRequest(
                Message.AssetRequest(hash: hash, offset: input.uint64() >> 2, length: input.uint64() >> 2))
        case 6:
            return .assetRequest(
                Message.AssetRequest(
                    hash: hash, offset: UInt64(input.byte()) << 8, length: UInt64(input.byte()) << 8))
        default: return .assetsAvailable(FuzzRecords.hashes)
        }
    }

    // MARK: Two honest sides

    static func honest(_ input: inout FuzzInput) throws {
        var sides = [ModelAssets(), ModelAssets()]
        while !input.isAtEnd {
            let operation = input.byte()
            let index = Int(operation & 1)
            switch operation >> 1 & 15 {
            case 0, 1: try happen(0, &input, &sides[index])
            case let number where number < 8: try happen(Int(number), &input, &sides[index])
            case 8, 9, 10, 11: try sides[index].step(input.pick(ModelAssets.Strand.allCases))
            case 12, 13: carry(&sides)
            default:
                carry(&sides)
                try settle(&sides[index])
            }
        }
        try finish(&sides)
    }

    private static func carry(_ sides: inout [ModelAssets]) {
        for index in 0...1 { sides[1 - index].inbox += sides[index].takeOutbox() }
    }

    /// The disks are well from now on, and everything is tried again: then each side gets what the other has.
    private static func finish(_ sides: inout [ModelAssets]) throws {
        var rounds = 0
        for index in 0...1 { sides[index].luck = .good }
        repeat {
            for index in 0...1 {
                sides[index].receiver.resume()
                sides[index].receiver.retryBusy()
                sides[index].receiver.retryTooLarge()
                try settle(&sides[index])
            }
            carry(&sides)
            rounds += 1
            try expect(rounds < mostSteps, "two honest sides do not come to rest")
        } while sides.contains { !$0.inbox.isEmpty || $0.receiver.hasBusy || $0.receiver.hasTooLarge }
        for side in sides {
            try expect(!side.receiver.isAwaitingAnswers, "an answer is missing")
            try expect(
                side.receiver.remaining.files == 0, "\(side.receiver.remaining.files) files never come")
        }
    }
}
