import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// A play that somebody corrects at BoardGameGeek, in a scorebook that had its game and its players before.
struct BGGCorrectionTests {
    private static let catan = (id: 13, name: "Catan")
    private static let azul = (id: 230802, name: "Azul")

    /// A scorebook with Catan, Ada and Bob, of which BoardGameGeek knows nothing.
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan"))
        for name in ["Ada", "Bob"] { try await scorebook.addPerson(name) }
        return scorebook
    }

    /// Imports a file with one play.
    @discardableResult
    private func `import`(
        _ scorebook: ScorebookStore, _ game: (id: Int, name: String),
        _ players: [(name: String, score: String)],
        quantity: Int = 1
    ) async throws -> ImportReport {
        let players = players.map { "<player name=\"\($0.name)\" score=\"\($0.score)\"/>" }.joined()
        let text = """
            <plays><play id="1" date="2021-01-02" quantity="\(quantity)">
            <item name="\(game.name)" objectid="\(game.id)"/><players>\(players)</players>
            </play></plays>
            """
        return try await scorebook.importData(Data(text.utf8))
    }

    /// The matches as `Catan: Ada 10, Bob 5`.
    private func matches(_ scorebook: ScorebookStore) async throws -> [String] {
        var texts: [String] = []
        for match in try await scorebook.matches() {
            let sheet = try await scorebook.matchSheet("\(match.recordName)")
            texts.append(
                "\(sheet.game): "
                    + sheet.bySeat.map { "\($0.person) \($0.writtenTotal ?? "-")" }.joined(separator: ", "))
        }
        return texts
    }

    @Test func aPlayFollowsIntoAnotherGameWithOtherPlayers() async throws {
        let scorebook = try await scorebook()
        let report = try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")])
        #expect(report.joinedNames == ["Ada", "Bob", "Catan"])
        try await `import`(scorebook, Self.azul, [("Ada", "7"), ("Cid", "9")])
        #expect(try await matches(scorebook) == ["Azul: Ada 7, Cid 9"])
        // A player who comes back, and a game that is known by now.
        try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")])
        #expect(try await matches(scorebook) == ["Catan: Ada 10, Bob 5"])
        let again = try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")])
        #expect(again.total == ImportReport.Counts(unchanged: 8))
    }

    @Test func whatSomebodyDecidedAboutGameAndPlayersStays() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addGame(NewGame(name: "Hearts"))
        try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")])
        var edit = MatchEdit()
        edit.game = "Hearts"
        edit.players.exchanged = [("Bob", "Dora")]
        edit.players.createsPersons = true
        try await scorebook.editMatch("last", edit)
        try await `import`(scorebook, Self.azul, [("Ada", "7"), ("Eve", "1"), ("Cid", "9")])
        let match = try #require(try await matches(scorebook).first)
        #expect(match.hasPrefix("Hearts: Ada 7, ") && match.contains("Dora 5") && match.hasSuffix(", Cid 9"))
    }

    /// A merge says that two records are one game, and nothing about the match.
    @Test func aPlayFollowsAlsoWhenSomebodyMergedItsGame() async throws {
        let scorebook = try await scorebook()
        try await `import`(scorebook, (13, "Die Siedler"), [("Ada", "10"), ("Robert", "5")])
        try await scorebook.merge(.game, "Siedler", into: "Catan")
        try await scorebook.merge(.person, "Robert", into: "Bob")
        #expect(try await matches(scorebook) == ["Catan: Ada 10, Bob 5"])
        try await `import`(scorebook, Self.azul, [("Ada", "7")])
        #expect(try await matches(scorebook) == ["Azul: Ada 7"])
    }

    /// The other machine knew neither the game nor the players, and imported the file for itself.
    @Test func machinesThatJoinInOtherWaysFollowTogether() async throws {
        let (kitchen, study) = (try await scorebook(), try Support.scorebook(2))
        for scorebook in [kitchen, study] {
            try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")])
        }
        try await study.take(from: kitchen)
        #expect(try await matches(study) == ["Catan: Ada 10, Bob 5"])
        try await `import`(study, Self.azul, [("Ada", "7"), ("Cid", "9")])
        try await kitchen.take(from: study)
        for scorebook in [kitchen, study] {
            #expect(try await matches(scorebook) == ["Azul: Ada 7, Cid 9"])
        }
        #expect(try await kitchen.digest() == study.digest())
    }

    @Test func anEntryForFewerPlaysTakesTheSurplusMatchesAway() async throws {
        let scorebook = try await scorebook()
        func becomes(_ quantity: Int) async throws -> Set<RecordName> {
            try await `import`(scorebook, Self.catan, [("Ada", "10"), ("Bob", "5")], quantity: quantity)
            return try await Set(scorebook.matches().map(\.recordName))
        }
        let first = try await becomes(1)
        let four = try await becomes(4)
        #expect(four.count == 4)
        #expect(try await becomes(1) == first)
        #expect(try await becomes(4) == four)
        #expect(try await matches(scorebook) == Array(repeating: "Catan: Ada 10, Bob 5", count: 4))
        // What somebody wrote in or restored stays.
        let others = four.subtracting(first).sorted()
        var edit = MatchEdit()
        edit.notes = .set("snow")
        try await scorebook.editMatch("\(others[0])", edit)
        try await scorebook.addScore(NewScore(match: "\(others[1])", player: "Ada", value: "3", round: 1))
        #expect(try await becomes(0) == first.union(others[...1]))
        try await scorebook.restore(others[2])
        #expect(try await becomes(1) == four)
    }

    @Test func aZoneFollowsToo() async throws {
        let all = try await scorebook()
        let club = all.limited(to: try await all.records.zones.create("club"))
        try await club.addGame(NewGame(name: "Catan"))
        try await club.addPerson("Ada")
        for (game, name) in [(Self.catan, "Ada"), (Self.azul, "Cid")] {
            try await `import`(club, game, [(name, "10")])
        }
        #expect(try await matches(all) == ["Azul: Cid 10"])
    }
}
