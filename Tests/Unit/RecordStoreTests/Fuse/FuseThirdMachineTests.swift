import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// What a third machine passes on, or writes meanwhile, while something waits for a person.
struct FuseThirdMachineTests {
    private let scene: FuseScene
    private var clock: SetClock { scene.clock }
    private var a: Machine { scene.a }
    private var b: Machine { scene.b }
    private var c: Machine { scene.c }

    /// The third machine takes everything without a question.
    init() async throws {
        scene = try await FuseScene()
        try await c.setFuse(nil)
    }

    private func change(_ sql: (String) -> String, _ numbers: ClosedRange<Int>) throws {
        for number in numbers { try a.shell(sql("recordName = 'Author|~|\(number)'")) }
        clock.milliseconds += 1000
    }

    /// The part that waits is too small for a question of its own, a day later.
    @Test(arguments: [true, false])
    func whatAnotherMachinePassesOnLaterWaitsAsWell(isDeleted: Bool) async throws {
        let sql = { (row: String) in
            isDeleted ? "DELETE FROM Author WHERE \(row)" : "UPDATE Author SET name = 'X' WHERE \(row)"
        }
        func left() throws -> Int {
            Int(try b.rows("SELECT COUNT(*) FROM Author WHERE name <> 'X'")[0])!
        }
        try change(sql, 41...48)
        try await a.sync(with: b)
        try change(sql, 51...58)
        try await a.sync(with: b)
        try await a.sync(with: c)
        #expect(try left() == 92)
        clock.milliseconds += 24 * StoreFuse.window
        try await c.sync(with: b)
        #expect(try left() == 92)
        #expect(try await b.alarms().map(\.source) == [.peer("a"), .peer("c")])
        #expect(try await b.alarms().map { $0.deletedCount + $0.overwrittenCount } == [8, 8])
        try await b.refuse()
        #expect(try left() == 100)
        try await FuseScene.expectEqual(b, a, c)
        #expect(try left() == 100)
    }

    /// A deletion that somebody made there is another question than what waits.
    @Test func aNewerDeletionOfTheSameRecordIsTheOtherMachinesOwn() async throws {
        try change({ "DELETE FROM Author WHERE \($0)" }, 41...60)
        try await a.sync(with: b)
        try c.shell("DELETE FROM Author WHERE recordName = 'Author|~|41'")
        try await c.sync(with: b)
        #expect(try b.rows("SELECT 1 FROM Author WHERE recordName = 'Author|~|41'").isEmpty)
        #expect(try await b.alarms().map(\.deletedCount) == [19])
    }

    /// What a third machine wrote while the question waited stands in none of the states that were refused.
    @Test func aRefusalLeavesWhatIsNotInQuestion() async throws {
        try change({ "UPDATE Author SET name = 'X' WHERE \($0)" }, 41...60)
        try change({ "DELETE FROM Author WHERE \($0)" }, 61...80)
        try await a.sync(with: b)
        #expect(try await b.alarms().count == 1)
        try c.shell(
            "UPDATE Author SET born = '1800-01-01T00:00:00.000Z' WHERE recordName IN ('Author|~|41', 'Author|~|61')"
        )
        clock.milliseconds += 1000
        try await b.refuse()
        try await c.sync(with: b)
        try await FuseScene.expectEqual(b, a, c)
        #expect(
            try b.rows("SELECT recordName, name FROM Author WHERE born IS NOT NULL ORDER BY 1")
                == ["Author|~|41|Name 41", "Author|~|61|Name 61"])
        #expect(try a.authors() == 100)
    }

    /// The refused deletion would come back with a deletion of each book, once the other machine forgets it.
    @Test func whatWouldHaveGoneAlongIsAsNewAsTheRefusal() async throws {
        let since = clock.milliseconds
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'")
        try await a.sync(with: b)
        #expect(try await b.alarms().map(\.deletedCount) == [21])
        clock.milliseconds += 1000
        try await b.refuse()
        let book = try #require(try await b.state("Book|~|1"))
        #expect(try #require(book.life).time.milliseconds > since)
    }

    @Test func whatSomebodyWroteAfterTheProgramStays() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        #expect(try await b.alarms().count == 1)
        clock.milliseconds += 1000
        _ = try await b.store.write { db in
            try db.execute(
                sql: """
                    UPDATE Author SET born = '1800-01-01T00:00:00.000Z' WHERE recordName = 'Author|~|60';
                    UPDATE Author SET name = 'Jane' WHERE recordName = 'Author|~|61';
                    """)
        }
        try await b.refuse()
        try await FuseScene.expectEqual(b, a, c)
        #expect(
            try a.rows(
                "SELECT name, born IS NULL FROM Author WHERE recordName IN ('Author|~|60', 'Author|~|61')")
                == ["Name 60|0", "Jane|1"])
        #expect(try a.rows("SELECT 1 FROM Author WHERE name = 'X'").isEmpty)
    }

    /// The second write of a program is refused with the first.
    @Test func whatProgramsOverwriteTwiceGoesBack() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        #expect(try await b.alarms().count == 1)
        clock.milliseconds += 1000
        try b.shell("UPDATE Author SET name = 'Y' WHERE recordName > 'Author|~|6'")
        #expect(try await b.refuse().isEmpty)
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.rows("SELECT 1 FROM Author WHERE name IN ('X', 'Y')").isEmpty)
    }
}
