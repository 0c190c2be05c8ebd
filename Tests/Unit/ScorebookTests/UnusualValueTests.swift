import Testing

@testable import Scorebook

/// Values that other programs write, and nobody types.
struct UnusualValueTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addMatch(
            NewMatch(
                game: "Go", date: "2026-11-01T12:00:00Z", players: [NewPlayer("Ada")], createsPersons: true,
                createsGame: true))
        return scorebook
    }

    private func command(_ scorebook: ScorebookStore) -> ScorebookStore {
        var habits = Habits()
        habits.command = Habits.Command(name: "edit", run: "edit")
        return scorebook.with(habits)
    }

    /// SQLite's function that writes values as SQL ends at U+0000, and has a word for infinity that it does not read.
    @Test func whatIsTakenBackIsWhatWasThere() async throws {
        let scorebook = try await scorebook()
        try await scorebook.execute(
            "UPDATE SBMatch SET notes = 'first' || char(0) || 'second', rating = -9e999")
        let before = try await scorebook.rows("SELECT hex(notes), rating < -1e308 FROM SBMatch")
        var edit = MatchEdit()
        edit.notes = .set("new")
        edit.rating = .set(5)
        try await command(scorebook).editMatch("last", edit)
        #expect(try await scorebook.undo().changed.count == 1)
        #expect(try await scorebook.rows("SELECT hex(notes), rating < -1e308 FROM SBMatch") == before)
    }

    /// The last month of all, and a date that SQLite takes for a number of days and that has no day.
    @Test(arguments: ["9999-12-31T12:00:00Z", "5.0", "junk"]) func monthsHaveAnEnd(date: String) async throws
    {
        let scorebook = try await scorebook()
        try await scorebook.addMatch(
            NewMatch(game: "Go", date: "2026-01-02T12:00:00Z", players: [NewPlayer("Ada")]))
        try await scorebook.execute("UPDATE SBMatch SET date = '\(date)' WHERE date LIKE '2026-11%'")
        let figures = try await scorebook.statistics()
        #expect(figures.months.first?.month == "2026-01")
        #expect(figures.months.last?.month == (date.hasPrefix("9999") ? "9999-12" : "2026-01"))
        #expect(figures.years.first?.year == 2026)
    }
}
