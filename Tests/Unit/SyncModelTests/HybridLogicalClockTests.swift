import PeerSyncModel
import Testing

/// The clock of stamps only grows.
struct HybridLogicalClockTests {
    @Test func timesOnlyGrow() {
        var clock = HybridLogicalClock()
        var last = HybridTime(rawValue: 0)
        for wall: Int64 in [100, 100, 50, 200, 199, 0, 201] {
            let time = clock.tick(milliseconds: wall)
            #expect(time > last)
            last = time
        }
        #expect(last.milliseconds == 201)
    }

    @Test func aFullCounterCarriesIntoTheMilliseconds() {
        var clock = HybridLogicalClock(last: HybridTime(rawValue: 100 << 16 | 0xFFFF))
        let time = clock.tick(milliseconds: 100)
        #expect(time.milliseconds == 101)
        #expect(time.counter == 0)
    }

    @Test func whatWasSeenIsOutdone() {
        var clock = HybridLogicalClock()
        clock.observe(HybridTime(milliseconds: 5000))
        #expect(clock.tick(milliseconds: 10) > HybridTime(milliseconds: 5000))
    }
}
