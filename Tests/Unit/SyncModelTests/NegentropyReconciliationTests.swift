import PeerSyncModel
import TestSupport
import Testing

/// A reconciliation finds what the two sides differ in, all of it and nothing else, and comes to an end.
struct NegentropyReconciliationTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func findsTheDifference(seed: UInt64) throws {
        let (sets, generated) = Self.randomSets(seed: seed)
        var generator = generated
        let exchange = try NegentropyExchange(sets)
        Self.expect(exchange, finds: sets)
        // Two messages a round, each of which divides the ranges by 16; then the lists.
        let greatest = max(sets.mine.count, sets.theirs.count)
        let depth = (0...).first { 31 << (4 * $0) >= greatest }!
        #expect(exchange.messages.count <= depth + 3)

        let limits = (0..<2).map { _ in Int.random(in: 4096...9000, using: &generator) }
        for (initiatorLimit, responderLimit) in [(limits[0], limits[1]), (limits[0], 0), (0, limits[1])] {
            let limited = try NegentropyExchange(
                sets, initiatorLimit: initiatorLimit, responderLimit: responderLimit)
            Self.expect(limited, finds: sets)
            for (index, message) in limited.messages.enumerated() {
                let limit = index.isMultiple(of: 2) ? initiatorLimit : responderLimit
                #expect(limit == 0 || message.count <= limit)
            }
            // At least 2,500 bytes of a full frame are something new.
            let total = exchange.messages.joined().count + 34 * (sets.have.count + sets.need.count)
            #expect(limited.rounds <= exchange.rounds + 2 + total / 2500)
        }
    }

    /// All, nothing, a few or many in common; timestamps that differ, hardly differ, or are all one.
    static func randomSets(seed: UInt64) -> (NegentropySets, SeededGenerator) {
        var generator = SeededGenerator(seed: seed)
        func count() -> Int {
            Int.random(in: 0...[0, 3, 40, 200, 1200].randomElement(using: &generator)!, using: &generator)
        }
        let sets = NegentropySets(
            seed: generator.next(), shared: count(), mine: count(), theirs: count(),
            timestamps: [1, 2, 50, 1 << 40].randomElement(using: &generator)!,
            commonPrefix: [0, 0, 1, 24].randomElement(using: &generator)!)
        return (sets, generator)
    }

    static func expect(
        _ exchange: NegentropyExchange, finds sets: NegentropySets,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(Set(exchange.have) == sets.have, sourceLocation: sourceLocation)
        #expect(Set(exchange.need) == sets.need, sourceLocation: sourceLocation)
        // Each id is told once, even if a range is listed twice.
        #expect(exchange.have.count == sets.have.count, sourceLocation: sourceLocation)
        #expect(exchange.need.count == sets.need.count, sourceLocation: sourceLocation)
    }

    /// A range that is the same on both sides is settled by its fingerprint, and nothing more is said of it.
    @Test func equalSetsAreSettledByTheFirstMessage() throws {
        let exchange = try NegentropyExchange(NegentropySets(seed: 1, shared: 1000, mine: 0, theirs: 0))
        #expect(exchange.messages.dropFirst() == [[NegentropyV1.versionByte]])
    }

    /// With these limits, the fingerprint at the end of a full frame would, as the reference implementation makes
    /// it, hide from the initiator the newest items of the responder.
    @Test func nothingIsLostAtTheEndOfAFullFrame() throws {
        var generator = SeededGenerator(seed: 7)
        let shared = (0..<1500).map { generator.item(timestamp: 1000 + 3 * $0) }
        let newest = (0..<100).map { generator.item(timestamp: 100_000 + 3 * $0) }
        let sets = NegentropySets(
            mine: shared.enumerated().filter { $0.offset % 10 != 9 }.map(\.element), theirs: shared + newest)
        let mine = try NegentropyVector(sets.mine)
        let theirs = try NegentropyVector(sets.theirs)
        let whole = try NegentropyExchange(mine, theirs).messages
        let answer = try NegentropyResponder(storage: theirs).reconcile(whole[2])
        for initiatorLimit in whole[2].count + 190..<whole[2].count + 201 {
            // The second message of the initiator ends in its last range but one, or its last, or just fits.
            for responderLimit in [answer.count - 100, answer.count + 100] {
                Self.expect(
                    try NegentropyExchange(mine, theirs, initiatorLimit, responderLimit), finds: sets)
            }
        }
    }

    /// A storage of one's own will do, as long as it keeps to the protocol.
    @Test func anyStorageGivesTheSameMessages() throws {
        let sets = NegentropySets(seed: 1, shared: 400, mine: 20, theirs: 30, timestamps: 60)
        let plain = try NegentropyExchange(PlainStorage(sets.mine), PlainStorage(sets.theirs), 4096, 4096)
        let vectors = try NegentropyExchange(sets, initiatorLimit: 4096, responderLimit: 4096)
        #expect(plain.messages == vectors.messages)
    }

    private struct PlainStorage: NegentropyStorage {
        let sorted: [NegentropyItem]

        init(_ items: [NegentropyItem]) { sorted = items.sorted() }

        var count: Int { sorted.count }
        func item(at index: Int) -> NegentropyItem { sorted[index] }
        func items(in range: Range<Int>) -> ArraySlice<NegentropyItem> { sorted[range] }

        func fingerprint(of range: Range<Int>) -> [UInt8] {
            // What is in a storage can be sealed again.
            try! NegentropyVector(Array(sorted[range])).fingerprint(of: 0..<range.count)
        }
    }

    @Test func whatHasEndedTakesNoMore() throws {
        let storage = try NegentropyVector([])
        var done = NegentropyInitiator(storage: storage)
        #expect(try done.reconcile([0x61]).message == nil)
        #expect(throws: NegentropyError.ended) { try done.reconcile([0x61]) }

        var failed = NegentropyInitiator(storage: storage)
        #expect(throws: NegentropyError.truncated) { try failed.reconcile([]) }
        #expect(throws: NegentropyError.ended) { try failed.reconcile([0x61]) }
    }
}
