import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Synchronization
import Testing

/// The dates of a file of BG Stats have no time zone: they are those of the phone's clock.
struct BGStatsClockTests {
    /// A clock that a test sets.
    private final class Clock: Sendable {
        private let time: Mutex<Int64>

        init(_ time: String) throws { self.time = try Mutex(Self.milliseconds(time)) }

        var now: Int64 { time.withLock(\.self) }

        func set(_ time: String) throws {
            let milliseconds = try Self.milliseconds(time)
            self.time.withLock { $0 = milliseconds }
        }

        private static func milliseconds(_ time: String) throws -> Int64 {
            try #require(ISO8601.milliseconds(canonical: time))
        }
    }

    private func scorebook(_ clock: Clock, _ zone: String = "Europe/Berlin") throws -> ScorebookStore {
        try ScorebookStore(DatabaseQueue(), replica: ReplicaID(rawValue: 1), now: { clock.now })
            .with(Habits(timeZone: TimeZone(identifier: zone)))
    }

    private func correct(_ scorebook: ScorebookStore, _ notes: String) async throws {
        var edit = MatchEdit()
        edit.notes = .set(notes)
        try await scorebook.editMatch("last", edit)
        try await scorebook.execute(
            "UPDATE SBScore SET points = 9 WHERE points = 3")
    }

    private func notes(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows(
            """
            SELECT notes, group_concat(points, ' ') FROM (
                SELECT notes, points FROM SBMatch AS m JOIN SBPlayer AS p ON p.match = m.recordName
                JOIN SBScore ON player = p.recordName ORDER BY seatOrder)
            """)
    }

    @Test(arguments: [
        ("Europe/Berlin", "2021-07-01T18:00:00Z", "2021-07-01T20:00:00Z"),
        ("America/Los_Angeles", "2021-07-02T03:00:00Z", "2021-07-02T05:00:00Z"),
    ])
    func datesAreThoseOfTheReadersZone(zone: String, date: String, written: String) async throws {
        let scorebook = try scorebook(Clock("2021-08-01T00:00:00Z"), zone)
        let file = try BGStatsFile(plays: [.init(written: "2021-07-01 22:00:00")]).data
        _ = try await scorebook.importData(file)
        #expect(try await scorebook.matches().map(\.date) == [date])
        let match = try #require(try await scorebook.states().first { $0.name == (try? BGStatsFile.match()) })
        #expect(
            ISO8601.text(milliseconds: match.newestWrite?.time.milliseconds ?? 0, fraction: .ifNeeded)
                == written)
        // What was played in the evening was played on that day.
        #expect(try await scorebook.matches(MatchFilter(since: "2021-07-01", until: "2021-07-01")).count == 1)
    }

    @Test(arguments: ["Europe/Berlin", "America/Los_Angeles"])
    func ofAnEditHereAndOneOnThePhoneTheLaterOneWins(zone: String) async throws {
        let hour: Int64 = zone == "Europe/Berlin" ? 12 : 21
        for (written, expected) in [("14:10", "here|5 9"), ("14:50", "phone|5 3")] {
            let clock = try Clock("2021-07-01T\(hour):00:00Z")
            let scorebook = try scorebook(clock, zone)
            _ = try await scorebook.importData(
                BGStatsFile(plays: [.init(written: "2021-07-01 13:30:00")]).data)
            // The clock at the wall shows 14:30.
            try clock.set("2021-07-01T\(hour):30:00Z")
            try await correct(scorebook, "here")
            try clock.set("2021-07-01T\(hour + 1):00:00Z")
            let play = BGStatsFile.Play(written: "2021-07-01 \(written):00", comments: "phone")
            _ = try await scorebook.importData(BGStatsFile(plays: [play]).data)
            #expect(try await notes(scorebook) == [expected])
        }
    }

    /// The phone is in Japan.
    @Test func aFileAheadOfTheClockChangesNothingTwice() async throws {
        let clock = try Clock("2021-07-01T12:00:00Z")
        let scorebook = try scorebook(clock)
        let play = BGStatsFile.Play(written: "2021-07-01 20:55:00", comments: "typo")
        let file = try BGStatsFile(plays: [play]).data
        #expect(try await scorebook.importData(file).total.new == 10)
        try clock.set("2021-07-01T12:10:00Z")
        try await correct(scorebook, "here")
        let states = try await scorebook.states()
        try clock.set("2021-07-01T12:20:00Z")
        #expect(try await scorebook.importData(file).total == ImportReport.Counts(unchanged: 10))
        #expect(try await scorebook.states() == states)
        // A deletion made here stays, too.
        try await scorebook.delete(.match, "last")
        try clock.set("2021-07-01T12:30:00Z")
        #expect(try await scorebook.importData(file).total.new == 0)
        #expect(try await scorebook.matches().isEmpty)
    }

    @Test func aFileAheadOfTheClockChangesWhatIsOfBGStats() async throws {
        let clock = try Clock("2021-07-01T12:00:00Z")
        let scorebook = try scorebook(clock)
        var play = BGStatsFile.Play(written: "2021-07-01 20:55:00", scores: [(1, 5), (2, 3), (3, 1)])
        _ = try await scorebook.importData(BGStatsFile(plays: [play]).data)
        try clock.set("2021-07-01T12:10:00Z")
        try await correct(scorebook, "here")
        // Cid has not played, and Anna had more.
        (play.written, play.comments) = ("2021-07-01 21:00:00", "phone")
        play.scores = [(1, 6), (2, 3)]
        try clock.set("2021-07-01T12:20:00Z")
        _ = try await scorebook.importData(BGStatsFile(plays: [play]).data)
        #expect(try await notes(scorebook) == ["here|6 9"])
        // Only somebody goes.
        play.scores = [(1, 6)]
        try clock.set("2021-07-01T12:30:00Z")
        _ = try await scorebook.importData(BGStatsFile(plays: [play]).data)
        #expect(try await scorebook.matchSheet("last").players.map(\.person) == ["Anna"])
        let states = try await scorebook.states()
        try clock.set("2021-07-01T12:40:00Z")
        _ = try await scorebook.importData(BGStatsFile(plays: [play]).data)
        #expect(try await scorebook.states() == states)
    }
}
