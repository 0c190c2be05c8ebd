import PeerSyncModel
import TestSupport

/// Reconciliation: a hostile side costs no more than its bytes and the own items, and with an honest one both sides find
/// exactly what differs.
enum NegentropyTarget {
    static let modes = 3

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0: try answer(&input)
        case 1: try ask(&input)
        default: try reconcile(&input)
        }
    }

    /// The least limit that there may be, that of the protocol, and none.
    private static let frameLimits = [4096, 60_000, 0]

    private static let stores: [NegentropyVector] = [0, 1, 31, 32, 200, 2000].map { count in
        try! NegentropyVector(
            (0..<count).map { index in item(timestamp: UInt64(index / 3), seed: UInt64(index)) })
    }

    private static let ids = stores.map { Set($0.items(in: 0..<$0.count).map(\.id)) }

    private static func item(timestamp: UInt64, seed: UInt64) -> NegentropyItem {
        var bytes: [UInt8] = []
        // An id stands for one state of a record, so it has one timestamp.
        let start = (seed << 16 | timestamp) << 2
        for round in 0..<4 as Range<UInt64> {
            bytes.append(bigEndian: (start &+ round &+ 1) &* 0x9E37_79B9_7F4A_7C15)
        }
        return NegentropyItem(timestamp: timestamp, id: NegentropyID(bytes)!)
    }

    private static func checkLength(
        _ message: [UInt8], _ limit: Int, _ storage: NegentropyVector, _ length: Int
    )
        throws
    {
        try expect(
            limit == 0 || message.count <= limit, "\(message.count) bytes where \(limit) are allowed")
        // Without a limit: each range of the question, of at least 3 bytes, is answered by 16 parts at most, and each
        // item is listed at most once.
        let most = 1 + (length / 3 + 1) * 17 * 60 + storage.count * 32
        try expect(message.count <= most, "\(message.count) bytes for \(length)")
        try expect(message.first == 0x61, "an answer of another version")
    }

    private static func answer(_ input: inout FuzzInput) throws {
        let storage = stores[input.number(below: stores.count)]
        let limit = frameLimits[input.number(below: 3)]
        let responder = NegentropyResponder(storage: storage, frameSizeLimit: limit)
        let question = input.rest()
        guard let answer = try? responder.reconcile(question) else { return }
        try checkLength(answer, limit, storage, question.count)
        try expect(try responder.reconcile(question) == answer, "two answers to one question")
    }

    /// Hostile answers, one after the other, each behind its length in a byte.
    private static func ask(_ input: inout FuzzInput) throws {
        let store = input.number(below: stores.count)
        let storage = stores[store]
        let limit = frameLimits[input.number(below: 3)]
        let (rounds, need) = (4, 40)
        var initiator = NegentropyInitiator(
            storage: storage, frameSizeLimit: limit, maximumRounds: rounds, maximumNeed: need)
        let opening = try initiator.initiate()
        try checkLength(opening, limit, storage, 0)
        var have: Set<NegentropyID> = []
        var needed: Set<NegentropyID> = []
        for round in 0... {
            let length = Int(input.byte())
            let answer = input.isAtEnd ? [] : input.take(length == 255 ? 4096 : length)
            let step: NegentropyInitiator.Step
            do {
                step = try initiator.reconcile(answer)
            } catch {
                return try checkEnded(&initiator)
            }
            try expect(round < rounds, "it goes on for ever")
            for id in step.have { try expect(have.insert(id).inserted, "an id was told twice") }
            for id in step.need { try expect(needed.insert(id).inserted, "an id was asked for twice") }
            try expect(needed.count <= need, "\(needed.count) ids are needed")
            try expect(have.isSubset(of: ids[store]), "an id that is not here")
            guard let next = step.message else { return try checkEnded(&initiator) }
            try checkLength(next, limit, storage, answer.count)
        }
    }

    private static func checkEnded(_ initiator: inout NegentropyInitiator) throws {
        do {
            _ = try initiator.reconcile([0x61])
        } catch { return try expect(error == .ended, "\(error) after the end") }
        throw BrokenInvariant(description: "it takes messages after the end")
    }

    /// Items in order, each once.
    private struct Items {
        private(set) var list: [NegentropyItem]

        init(_ storage: NegentropyVector) { list = Array(storage.items(in: 0..<storage.count)) }

        private func index(of item: NegentropyItem) -> Int {
            var (lower, upper) = (0, list.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                if list[middle] < item { lower = middle + 1 } else { upper = middle }
            }
            return lower
        }

        mutating func insert(_ item: NegentropyItem) {
            let index = index(of: item)
            if index == list.count || list[index] != item { list.insert(item, at: index) }
        }

        mutating func remove(_ item: NegentropyItem) {
            let index = index(of: item)
            if index < list.count, list[index] == item { list.remove(at: index) }
        }

        func subtracting(_ other: Items) -> Set<NegentropyID> {
            var result: Set<NegentropyID> = []
            var theirs = other.list[...]
            for item in list {
                while let first = theirs.first, first < item { theirs.removeFirst() }
                if theirs.first != item { result.insert(item.id) }
            }
            return result
        }
    }

    /// Two honest sides, whose items are few or some hundreds.
    private static func reconcile(_ input: inout FuzzInput) throws {
        let limits = (frameLimits[input.number(below: 3)], frameLimits[input.number(below: 3)])
        let base = stores[input.pick([0, 1, 1, 2, 2, 3, 3, 4])]
        let (isLeftEmpty, isRightEmpty) = (input.number(below: 8) == 7, input.number(below: 8) == 7)
        var left = isLeftEmpty ? Items(stores[0]) : Items(base)
        var right = isRightEmpty ? Items(stores[0]) : Items(base)
        var operations = 0
        while !input.isAtEnd, operations < 100 {
            operations += 1
            let (place, seed) = (input.byte(), input.byte())
            let new = item(timestamp: UInt64(place >> 3), seed: UInt64(seed) + 100_000)
            // Of what both have, some is taken from one.
            let old = base.count == 0 ? new : base.item(at: (Int(place) << 8 | Int(seed)) % base.count)
            switch place & 7 {
            case 0: left.insert(new)
            case 1: right.insert(new)
            case 2:
                left.insert(new)
                right.insert(new)
            case 3, 4: left.remove(old)
            case 5, 6: right.remove(old)
            // A run of items.
            default:
                for index in 0..<8 as Range<UInt64> {
                    left.insert(item(timestamp: UInt64(place), seed: UInt64(seed) + index + 200_000))
                }
            }
        }
        var initiator = NegentropyInitiator(
            storage: try NegentropyVector(left.list), frameSizeLimit: limits.0)
        let responder = NegentropyResponder(
            storage: try NegentropyVector(right.list), frameSizeLimit: limits.1)
        var have: [NegentropyID] = []
        var need: [NegentropyID] = []
        var message: [UInt8]? = try initiator.initiate()
        var rounds = 0
        while let question = message {
            rounds += 1
            try expect(rounds < 1000, "two honest sides do not come to an end")
            let step = try initiator.reconcile(try responder.reconcile(question))
            have += step.have
            need += step.need
            message = step.message
        }
        let (onlyLeft, onlyRight) = (left.subtracting(right), right.subtracting(left))
        try expect(
            have.count == onlyLeft.count && Set(have) == onlyLeft,
            "\(have.count) of \(onlyLeft.count) ids are told to be missing there")
        try expect(
            need.count == onlyRight.count && Set(need) == onlyRight,
            "\(need.count) of \(onlyRight.count) ids are told to be missing here")
    }
}
