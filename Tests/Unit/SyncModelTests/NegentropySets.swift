import PeerSyncModel
import TestSupport

/// Two sets of items that a seed determines, and what each has that the other lacks.
struct NegentropySets {
    private(set) var mine: [NegentropyItem] = []
    private(set) var theirs: [NegentropyItem] = []
    private(set) var have: Set<NegentropyID> = []
    private(set) var need: Set<NegentropyID> = []

    /// - Parameters:
    ///   - timestamps: How many different timestamps there are at most; few make bounds need ids.
    ///   - commonPrefix: With how many equal bytes all ids begin, at most 24.
    init(
        seed: UInt64, shared: Int, mine onlyMine: Int, theirs onlyTheirs: Int, timestamps: UInt64 = 1_000_000,
        commonPrefix: Int = 0
    ) {
        var generator = SeededGenerator(seed: seed)
        for index in 0..<(shared + onlyMine + onlyTheirs) {
            let timestamp = 1_700_000_000 + generator.next() % timestamps
            let item = generator.item(timestamp: timestamp, commonPrefix: commonPrefix)
            if index < shared + onlyMine { mine.append(item) }
            if index < shared || index >= shared + onlyMine { theirs.append(item) }
            if (shared..<(shared + onlyMine)).contains(index) { have.insert(item.id) }
            if index >= shared + onlyMine { need.insert(item.id) }
        }
    }

    init(mine: [NegentropyItem], theirs: [NegentropyItem]) {
        self.mine = mine
        self.theirs = theirs
        let (ownIDs, otherIDs) = (Set(mine.map(\.id)), Set(theirs.map(\.id)))
        have = ownIDs.subtracting(otherIDs)
        need = otherIDs.subtracting(ownIDs)
    }
}

extension SeededGenerator {
    mutating func item(timestamp: UInt64, commonPrefix: Int = 0) -> NegentropyItem {
        var bytes: [UInt8] = []
        for _ in 0..<4 {
            let word = next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
        }
        for index in 0..<commonPrefix { bytes[index] = 0xAB }
        return NegentropyItem(timestamp: timestamp, id: NegentropyID(bytes)!)
    }
}

/// A whole reconciliation, and what came of it.
struct NegentropyExchange {
    /// Every message, the initiator's first.
    private(set) var messages: [[UInt8]] = []
    private(set) var have: [NegentropyID] = []
    private(set) var need: [NegentropyID] = []

    /// How many answers the initiator got.
    var rounds: Int { messages.count / 2 }

    init(_ sets: NegentropySets, initiatorLimit: Int = 0, responderLimit: Int = 0, maximumRounds: Int = 2000)
        throws
    {
        try self.init(
            NegentropyVector(sets.mine), NegentropyVector(sets.theirs), initiatorLimit, responderLimit,
            maximumRounds: maximumRounds)
    }

    init(
        _ mine: any NegentropyStorage, _ theirs: any NegentropyStorage, _ initiatorLimit: Int = 0,
        _ responderLimit: Int = 0, maximumRounds: Int = 2000
    ) throws {
        var initiator = NegentropyInitiator(
            storage: mine, frameSizeLimit: initiatorLimit, maximumRounds: maximumRounds)
        let responder = NegentropyResponder(storage: theirs, frameSizeLimit: responderLimit)
        var message = try initiator.initiate()
        while true {
            let answer = try responder.reconcile(message)
            messages += [message, answer]
            let step = try initiator.reconcile(answer)
            have += step.have
            need += step.need
            guard let next = step.message else { return }
            message = next
        }
    }
}
