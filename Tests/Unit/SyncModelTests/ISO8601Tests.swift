import Foundation
import PeerSyncModel
import TestSupport
import Testing

struct ISO8601Tests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (250, "1970-01-01T00:00:00.250Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_448_445_600_000, "2015-11-25T10:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
        (-62_167_219_200_000, "0000-01-01T00:00:00Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func momentsAndTextsBelongTogether(milliseconds: Int64, text: String) {
        #expect(ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) == text)
        #expect(ISO8601.milliseconds(canonical: text) == milliseconds)
    }

    @Test(arguments: [
        "", "2015-11-25", "2015-11-25 10:00:00", "2015-11-25T10:00:00", "2015-11-25T10:00:00.000Z",
        "2015-11-25T10:00:00+01:00", "2015-02-29T00:00:00Z", "2015-13-01T00:00:00Z", "2015-11-25T24:00:00Z",
        "2015-11-25T10:00:60Z", "2015-1١-25T10:00:00Z", "-015-11-25T10:00:00Z", "2015-11-25t10:00:00Z",
    ])
    func textsInAnyOtherFormAreNotTaken(text: String) {
        #expect(ISO8601.milliseconds(canonical: text) == nil)
    }

    @Test func agreesWithFoundationAtManyMoments() {
        var generator = SeededGenerator(seed: 21)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2000 {
            let milliseconds = Int64.random(in: -2_000_000_000_000...253_402_300_799_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
            let ours = ISO8601.text(milliseconds: milliseconds / 1000 * 1000, fraction: .always)
            #expect(ours == date.formatted(style))
        }
    }

    @Test func yearsWithoutFourDigitsHaveNoText() {
        #expect(ISO8601.text(milliseconds: 253_402_300_800_000, fraction: .always) == nil)
        #expect(ISO8601.text(milliseconds: -62_167_219_200_001, fraction: .always) == nil)
    }
}
