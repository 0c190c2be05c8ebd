import PeerSyncModel
import Testing

/// Times at the ends of what they can be, and what a clock makes of those it sees.
struct TimeTests {
    @Test(
        arguments: [
            (.min, 0), (-1, 0), (0, 0), (HybridTime.maximumMilliseconds, HybridTime.maximumMilliseconds),
            (HybridTime.maximumMilliseconds + 1, HybridTime.maximumMilliseconds),
            (.max, HybridTime.maximumMilliseconds),
        ] as [(Int64, Int64)])
    func millisecondsAreClamped(milliseconds: Int64, expected: Int64) {
        #expect(HybridTime(milliseconds: milliseconds).milliseconds == expected)
    }

    @Test func timeStandsStillAtItsEnd() {
        var clock = HybridLogicalClock(last: HybridTime(rawValue: .max))
        #expect(clock.tick(milliseconds: 5) == HybridTime(rawValue: .max))
        #expect(clock.tick(milliseconds: .max) == HybridTime(rawValue: .max))
    }

    @Test func whatIsOlderSetsNoClockBack() {
        var clock = HybridLogicalClock()
        clock.observe(HybridTime(milliseconds: 5000))
        clock.observe(HybridTime(milliseconds: 4000))
        #expect(clock.last == HybridTime(milliseconds: 5000))
    }

    /// A token says how many forgotten deletions do not concern its holder only while its number does not say as much.
    @Test(arguments: [(9, 10, 10), (10, 10, 0), (11, 10, 0), (5, 0, 0)] as [(Int64, Int64, Int64)])
    func aHorizonThatIsReachedIsNone(sequence: Int64, horizon: Int64, expected: Int64) {
        let token = ChangeToken(generation: [1], sequence: sequence, horizon: horizon)
        #expect(token.horizon == expected)
        #expect((token == ChangeToken(generation: [1], sequence: sequence)) == (expected == 0))
    }
}
