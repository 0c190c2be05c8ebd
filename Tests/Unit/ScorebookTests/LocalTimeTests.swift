import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// The dates that people type, and those that they read.
struct LocalTimeTests {
    /// 2021-08-01T00:00:00Z, a Sunday.
    private func time(_ zone: String) throws -> LocalTime {
        LocalTime(zone: try #require(TimeZone(identifier: zone)), now: Support.now)
    }

    private func utc(_ milliseconds: Int64) -> String? {
        ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded)
    }

    @Test(arguments: [
        ("2024-03-05", "2024-03-04T23:00:00Z"), ("2024-03-05 19:30", "2024-03-05T18:30:00Z"),
        ("2024-07-05T19:30", "2024-07-05T17:30:00Z"), ("2024-03-05T19:30:15", "2024-03-05T18:30:15Z"),
        ("2024-03-05T19:30:00Z", "2024-03-05T19:30:00Z"),
        ("2024-03-05T19:30:00.500Z", "2024-03-05T19:30:00.500Z"),
        ("2024-03-05T19:30:00+05:30", "2024-03-05T14:00:00Z"),
        ("2024-03-05 19:30-0300", "2024-03-05T22:30:00Z"),
        ("21.11.2026", "2026-11-20T23:00:00Z"), ("5.3.2024 9:05", "2024-03-05T08:05:00Z"),
        ("yesterday 20:15", "2021-07-31T18:15:00Z"), ("yesterday", "2021-07-30T22:00:00Z"),
        ("Today 00:10", "2021-07-31T22:10:00Z"), ("20:15", "2021-08-01T18:15:00Z"),
        ("friday 8:00", "2021-07-30T06:00:00Z"), ("sunday", "2021-07-24T22:00:00Z"),
        // The clocks skip this hour, and have that one twice.
        ("2024-03-31 02:30", "2024-03-31T01:30:00Z"), ("2024-10-27 03:00", "2024-10-27T02:00:00Z"),
    ])
    func aMomentIsRead(text: String, date: String) throws {
        #expect(utc(try time("Europe/Vienna").moment(text)) == date)
    }

    @Test(arguments: [
        "", "soon", "2024-02-30", "31.4.2024", "2024-13-01", "2024-03-05 25:00", "yesterday 20", "3/5/2024",
        "2024-03-05T19:30:00+15:00", "2024-03-05 19:30 +", "20:60",
    ])
    func whatIsNoDateIsRefused(text: String) throws {
        let time = try time("Europe/Vienna")
        let error = #expect(throws: ScorebookError.self) { try time.moment(text) }
        #expect(error?.code == .invalidValue && error?.message.contains("yesterday 20:15") == true)
    }

    /// West of Greenwich, too, a skipped time is the one an hour later, and a day begins on that day.
    @Test func clocksThatGoForwardElsewhere() throws {
        #expect(utc(try time("America/New_York").moment("2026-03-08 02:30")) == "2026-03-08T07:30:00Z")
        #expect(utc(try time("America/Santiago").moment("2026-09-06")) == "2026-09-06T04:00:00Z")
        #expect(utc(try time("Europe/Berlin").moment("2024-10-27 02:30")) == "2024-10-27T00:30:00Z")
    }

    /// So a day stays that day for most readers elsewhere, and what is played today is no future.
    @Test(
        arguments: [
            ("2024-03-05", "2024-03-05T11:00:00Z"), ("yesterday", "2021-07-31T10:00:00Z"),
            ("tomorrow 9:00", nil), ("2021-08-02", "2021-08-02T10:00:00Z"), ("today", "2021-08-01T00:00:00Z"),
            ("2024-03-05 00:00", "2024-03-04T23:00:00Z"), ("2024-03-31", "2024-03-31T10:00:00Z"),
        ] as [(String, String?)])
    func aMatchOfADayAloneIsPlayedAtNoon(text: String, date: String?) async throws {
        let vienna = try #require(TimeZone(identifier: "Europe/Vienna"))
        let scorebook = try Support.scorebook().with(Habits(timeZone: vienna))
        let new = NewMatch(
            game: "Go", date: text, players: [NewPlayer("Ada")], createsPersons: true, createsGame: true)
        guard let date else {
            await #expect(throws: ScorebookError.self) { try await scorebook.addMatch(new) }
            return
        }
        #expect(try await scorebook.addMatch(new).date == date)
        for other in ["2020-01-01", text] {
            var edit = MatchEdit()
            edit.date = .set(other)
            try await scorebook.editMatch("last", edit)
        }
        #expect(try await scorebook.matchSheet("last").date == date)
    }

    @Test func datesAreWrittenInTheReadersZone() throws {
        #expect(try time("Europe/Vienna").text("2024-03-05T23:30:00Z") == "2024-03-06 00:30")
        #expect(try time("America/New_York").text("2024-03-05T23:30:00Z") == "2024-03-05 18:30")
        #expect(try time("Asia/Kolkata").dayText("2024-03-05T18:31:00.250Z") == "2024-03-06")
        #expect(try time("Europe/Vienna").text("once upon a time") == "once upon a time")
    }
}
