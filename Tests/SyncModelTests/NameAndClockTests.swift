import SyncModel
import Testing

struct RecordNameTests {
    @Test(arguments: [
        "SBGame|~|x", "A|~|b", "_t1|~||~|", "SBGame|~|" + String(repeating: "x", count: 246), "A||~|~",
    ])
    func namesWithATypeAndASuffixAreTaken(text: String) throws {
        if text == "A||~|~" {
            #expect(throws: RecordNameError.noType(text)) { try RecordName(text) }
        } else {
            let name = try RecordName(text)
            #expect(name.recordType + "|~|" + name.suffix == text)
        }
    }

    @Test(arguments: [
        ("", RecordNameError.empty), ("SBGame", .noType("SBGame")), ("|~|x", .noType("|~|x")),
        ("SBGame|~|", .noSuffix("SBGame|~|")), ("SB Game|~|x", .noType("SB Game|~|x")),
        ("1a|~|x", .noType("1a|~|x")), ("SBGame|~|é", .notPrintableASCII),
        ("SBGame|~|a\n", .notPrintableASCII),
        ("SBGame|~|" + String(repeating: "x", count: 247), .tooLong(256)),
    ])
    func everythingElseIsRefusedWithTheReason(text: String, error: RecordNameError) {
        #expect(throws: error) { try RecordName(text) }
    }
}

struct ClockTests {
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

struct DigestTests {
    private func id(_ number: Int) -> RecordID {
        RecordID(
            RecordState(
                name: try! RecordName("A|~|\(number)"),
                fields: [
                    RecordField(
                        name: "x", value: .integer(Int64(number)),
                        stamp: Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 1)))
                ]))
    }

    @Test func orderDoesNotMatterAndRemovalUndoesInsertion() throws {
        var forward = ZoneDigest()
        var backward = ZoneDigest()
        for number in 0..<100 { forward.insert(id(number)) }
        for number in (0..<100).reversed() { backward.insert(id(number)) }
        #expect(forward == backward)
        #expect(forward.hex == backward.hex)
        for number in 0..<100 { forward.remove(id(number)) }
        #expect(forward == ZoneDigest())
        let restored = try #require(ZoneDigest(count: backward.count, sumBytes: backward.sumBytes))
        #expect(restored == backward)
    }

    @Test func oneOtherValueIsAnotherDigest() {
        var one = ZoneDigest()
        var other = ZoneDigest()
        one.insert(id(1))
        other.insert(id(2))
        #expect(one.hex != other.hex)
    }
}
