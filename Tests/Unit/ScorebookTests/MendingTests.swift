import PeerSyncModel
import Scorebook
import Testing

/// A match that is over is edited in all that it has, and the last command is taken back.
struct MendingTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Pandemic", cooperative: true))
        try await scorebook.addMatch(
            NewMatch(
                game: "Pandemic",
                players: [
                    NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8"), NewPlayer("Grace Hopper"),
                ],
                createsPersons: true))
        return scorebook
    }

    private func edit(_ scorebook: ScorebookStore, _ change: (inout PlayersEdit) -> Void) async throws
        -> [String]
    {
        var edit = MatchEdit()
        change(&edit.players)
        try await scorebook.editMatch("last", edit)
        return try await players(scorebook)
    }

    private func players(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows(
            """
            SELECT firstName, seatOrder, team, role, startPlayer, winner,
                (SELECT group_concat(points) FROM SBScore WHERE player = SBPlayer.recordName)
            FROM SBPlayer JOIN SBPerson ON person = SBPerson.recordName ORDER BY seatOrder
            """)
    }

    @Test func playersAreAddedRemovedAndExchanged() async throws {
        let scorebook = try await scorebook()
        let rows = try await edit(scorebook) { edit in
            edit.added = [NewPlayer("Bea", score: "3")]
            edit.removed = ["alan"]
            edit.exchanged = [("ada", "Cem")]
            edit.createsPersons = true
        }
        #expect(
            rows == [
                "Cem|1|null|null|null|null|10", "Grace|3|null|null|null|null|null",
                "Bea|4|null|null|null|null|3",
            ])
        #expect(try await scorebook.person("Ada").matches == 0)
    }

    @Test func winnersTeamsRolesAndWhoBeganAreSet() async throws {
        let scorebook = try await scorebook()
        var rows = try await edit(scorebook) { edit in
            edit.winners = .set(["hopper"])
            edit.teams = [("Ada", "red"), ("Alan", "blue")]
            edit.roles = [("Ada", "Medic")]
            edit.starter = .set("alan")
        }
        #expect(
            rows == ["Ada|1|red|Medic|null|0|10", "Alan|2|blue|null|1|0|8", "Grace|3|null|null|null|1|null"])
        rows = try await edit(scorebook) { edit in
            edit.winners = .clear
            edit.teams = [("Ada", nil)]
            edit.starter = .set("Ada")
        }
        #expect(
            rows == [
                "Ada|1|null|Medic|1|null|10", "Alan|2|blue|null|null|null|8",
                "Grace|3|null|null|null|null|null",
            ])
    }

    /// One of a team, or the team, stands for all of it.
    @Test(arguments: ["alan", "Red", "ada"])
    func aTeamWinsTogether(winner: String) async throws {
        let scorebook = try await scorebook()
        let rows = try await edit(scorebook) { edit in
            edit.teams = [("Ada", "red"), ("Alan", "red"), ("Grace", "blue")]
            edit.winners = .set([winner])
        }
        #expect(
            rows == [
                "Ada|1|red|null|null|1|10", "Alan|2|red|null|null|1|8", "Grace|3|blue|null|null|0|null",
            ])
        try await scorebook.addGame(NewGame(name: "Skat"))
        try await scorebook.addMatch(
            NewMatch(
                game: "Skat",
                players: [
                    NewPlayer("Ada", team: "red", isWinner: true), NewPlayer("Alan", team: "red"),
                    NewPlayer("Grace", team: "blue"),
                ]))
        let sheet = try await scorebook.matchSheet("Skat")
        #expect(sheet.players.filter { $0.winner == true }.map(\.person).sorted() == ["Ada", "Alan"])
        // Another program has recorded it for one of them only.
        try await scorebook.execute("UPDATE SBPlayer SET winner = NULL WHERE seatOrder = 2")
        #expect(
            try await scorebook.matches(MatchFilter(game: "Skat", winner: "Alan")).count == 1)
    }

    @Test func aNewGameThatIsLostTogetherIsCooperative() async throws {
        let scorebook = try await scorebook()
        var new = NewMatch(
            game: "Spirit Island", players: [NewPlayer("Ada", isWinner: false)], createsGame: true)
        new.newGameRule = .together
        try await scorebook.addMatch(new)
        #expect(try await scorebook.game("spirit").game.cooperative == true)
    }

    @Test func allWinOrLoseTogether() async throws {
        let scorebook = try await scorebook()
        for (hasWon, result) in [(true, MatchSheet.Result.won), (false, .lost)] {
            _ = try await edit(scorebook) { $0.result = hasWon }
            let sheet = try await scorebook.matchSheet("last")
            #expect(sheet.result == result && sheet.text.contains(" · \(result.rawValue)\n"), "\(sheet.text)")
        }
    }

    @Test(arguments: ["exchange", "remove", "winner", "add", "all"])
    func whatCannotBeIsRefusedWhole(what: String) async throws {
        let scorebook = try await scorebook()
        let before = try await players(scorebook)
        await #expect(throws: ScorebookError.self) {
            _ = try await edit(scorebook) { edit in
                edit.teams = [("Ada", "red")]
                switch what {
                case "exchange": edit.exchanged = [("Ada", "Alan")]
                case "remove": edit.removed = ["Bob"]
                case "winner": edit.winners = .set(["Bob"])
                case "add": edit.added = [NewPlayer("Ada")]
                default: edit.removed = ["Ada", "Alan", "Grace"]
                }
            }
        }
        #expect(try await players(scorebook) == before)
    }

    // MARK: Undo

    private func command(_ scorebook: ScorebookStore, _ run: String) -> ScorebookStore {
        var habits = Habits(timeZone: .gmt)
        habits.command = Habits.Command(name: run, run: run)
        return scorebook.with(habits)
    }

    private func contents(_ scorebook: ScorebookStore) async throws -> [String] {
        var rows: [String] = []
        for (table, columns) in [
            ("SBPerson", "recordName, firstName"), ("SBGame", "recordName, name, year"),
            ("SBMatch", "recordName, game, notes, date"),
            ("SBPlayer", "recordName, match, person, winner, team"),
            ("SBScore", "recordName, player, round, points"), ("SBMatchLocation", "recordName, match, name"),
        ] {
            rows += try await scorebook.rows("SELECT \(columns) FROM \(table) ORDER BY recordName")
        }
        return rows
    }

    /// Each step is taken back to what was before it, and the other machine gets that as new writes.
    @Test func commandsAreTakenBackOneAfterTheOther() async throws {
        let (scorebook, other) = (try await scorebook(), try Support.scorebook(2))
        var edit = MatchEdit()
        edit.notes = .set("Snow.")
        edit.location = .set("at Ada's")
        edit.players.removed = ["Alan"]
        edit.players.winners = .set(["Ada"])
        let steps: [(String, @Sendable (ScorebookStore) async throws -> Void)] = [
            ("edit", { [edit] in try await $0.editMatch("last", edit) }),
            (
                "add",
                { try await $0.addScores(NewScores(match: "last", round: .next, values: [("Ada", "4")])) }
            ),
            (
                "two",
                {
                    try await $0.addPerson("Bea")
                    try await $0.editPerson("Bea", PersonEdit(name: .set("Bea Arthur")))
                }
            ),
            ("delete", { try await $0.delete(.person, "Ada") }),
            ("restore", { try await $0.restore(.person, "Ada") }),
            ("game", { try await $0.delete(.game, "Pandemic") }),
        ]
        var states = [try await contents(scorebook)]
        for (name, step) in steps {
            try await step(command(scorebook, name))
            states.append(try await contents(scorebook))
        }
        try await other.take(from: scorebook)
        for (name, _) in steps.reversed() {
            states.removeLast()
            #expect(try await scorebook.undo().command == name)
            #expect(try await contents(scorebook) == states.last, "\(name)")
        }
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.undo() }
        #expect(error?.code == .notFound)
        try await other.take(from: scorebook)
        #expect(try await contents(other) == states.first)
        #expect(try await other.digest() == scorebook.digest())
    }

    @Test func whatSomebodyChangedSinceStays() async throws {
        let scorebook = try await scorebook()
        let here = command(scorebook, "edit")
        var edit = MatchEdit()
        edit.notes = .set("Snow.")
        edit.board = .set("Africa")
        try await here.editMatch("last", edit)
        try await scorebook.execute("UPDATE SBMatch SET notes = 'Rain.'")
        let undone = try await scorebook.undo()
        #expect(undone.changed.count == 1 && undone.kept == 1)
        #expect(try await scorebook.rows("SELECT notes, board FROM SBMatch") == ["Rain.|null"])
    }

    @Test func oneCommandIsTakenBackWhateverWasWrittenSince() async throws {
        let scorebook = try await scorebook()
        let first = command(scorebook, "first")
        var edit = MatchEdit()
        edit.board = .set("Africa")
        try await first.editMatch("last", edit)
        try await command(scorebook, "second").editPerson("Ada", PersonEdit(name: .set("Xenia")))
        let run = try #require(first.habits.command?.run)
        #expect(try await scorebook.hasWritten(run))
        #expect(try await scorebook.undo(run).command == "first")
        #expect(try await !scorebook.hasWritten(run))
        #expect(try await scorebook.rows("SELECT board FROM SBMatch") == ["null"])
        #expect(try await scorebook.person("Xenia").person.name == "Xenia")
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.undo(run) }
        #expect(error?.code == .notFound)
        #expect(try await scorebook.undo().command == "second")
    }

    /// Otherwise the list of deleted records would have a line for each player and score.
    @Test func anAddedMatchIsTakenBackAsOneDeletion() async throws {
        let scorebook = try await scorebook()
        let before = try await contents(scorebook)
        let match = try await command(scorebook, "match add").addMatch(
            NewMatch(
                game: "Pandemic", players: [NewPlayer("Ada", score: "5"), NewPlayer("Alan", score: "6")]))
        #expect(try await scorebook.undo().deleted.count == 5)
        #expect(try await contents(scorebook) == before)
        let deleted = try await scorebook.deletedRecords()
        #expect(deleted.map(\.recordName) == [match.recordName])
        #expect(deleted.map(\.companions) == [4])
    }

    /// Otherwise the undo would delete somebody else's match.
    @Test func anAddedGameStaysIfSomebodyPlayedItSince() async throws {
        let scorebook = try await scorebook()
        try await command(scorebook, "game add").addGame(NewGame(name: "Go"))
        try await scorebook.addMatch(NewMatch(game: "Go", players: [NewPlayer("Ada")]))
        let before = try await contents(scorebook)
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.undo() }
        #expect(error?.code == .invalidValue)
        #expect(try await contents(scorebook) == before)
    }

    /// Otherwise the undo would delete somebody else's correction.
    @Test(arguments: [
        "UPDATE SBPerson SET emailAddress = 'b@example.org' WHERE firstName = 'Bea'",
        "UPDATE SBScore SET points = 7 WHERE points = 5",
        "UPDATE SBMatch SET notes = 'Snow.' WHERE rounds = 3",
    ])
    func whatWasAddedStaysIfSomebodyCorrectedItSince(correction: String) async throws {
        let scorebook = try await scorebook()
        try await command(scorebook, "match add").addMatch(
            NewMatch(
                game: "Pandemic", players: [NewPlayer("Bea", score: "5")], rounds: 3, createsPersons: true))
        try await scorebook.execute(correction)
        let before = try await contents(scorebook)
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.undo() }
        #expect(error?.code == .invalidValue && error?.message.contains("changed since `match add`") == true)
        #expect(try await contents(scorebook) == before)
    }

    @Test func aMergeThatIsTakenBackGivesBackWhatCameMeanwhile() async throws {
        let (scorebook, other) = (try await scorebook(), try Support.scorebook(2))
        try await other.take(from: scorebook)
        func ofAlan(_ scorebook: ScorebookStore) async throws -> [String] {
            try await scorebook.rows(
                "SELECT count(*) FROM SBPlayer JOIN SBPerson ON person = SBPerson.recordName WHERE firstName = 'Alan'"
            )
        }
        let before = try await ofAlan(scorebook)
        try await command(scorebook, "person add").addPerson("Alan Turing")
        try await command(scorebook, "merge").merge(.person, "Alan", into: "Alan Turing")
        try await other.addMatch(NewMatch(game: "Pandemic", date: "2021-07-31", players: [NewPlayer("Alan")]))
        try await scorebook.take(from: other)
        #expect(try await scorebook.person("Alan Turing").matches == Int(before[0])! + 1)
        #expect(try await scorebook.undo().command == "merge")
        #expect(try await scorebook.person("Alan Turing").matches == 0)
        #expect(
            try await scorebook.rows("SELECT count(*) FROM SBPerson WHERE mergedInto IS NOT NULL") == ["0"])
    }

    /// One restore brings all of it back, on any machine.
    @Test func anAddedMatchThatIsTakenBackComesBackWhole() async throws {
        let (scorebook, other) = (try await scorebook(), try Support.scorebook(2))
        let here = command(scorebook, "match add")
        try await here.addMatch(
            NewMatch(
                game: "Go", players: [NewPlayer("Bea", score: "5"), NewPlayer("Ada", score: "3")],
                location: "at Bea's", createsPersons: true, createsGame: true))
        let before = try await contents(scorebook)
        let last = try #require(try await scorebook.lastCommand())
        #expect(last.name == "match add" && last.obstacle == nil && last.matches.count == 1)
        let undone = try await scorebook.undo()
        #expect(undone.deleted.count == 8 && undone.deletions.count == 3)
        try await other.take(from: scorebook)
        #expect(try await other.games().count == 1)
        let listed = try #require(
            try await scorebook.deletedRecords(type: "SBMatch").first { $0.recordName == last.matches[0] })
        #expect(listed.title == "Go, 2021-08-01 00:00" && listed.players == ["Bea", "Ada"])
        #expect(try await scorebook.restore(.match, "go").names.count == 8)
        #expect(try await contents(scorebook) == before)
        try await other.take(from: scorebook)
        #expect(try await contents(other) == before)
    }

    @Test func aDeletedMatchIsFoundByItsGameAndAsTheLastOne() async throws {
        let scorebook = try await scorebook()
        for date in ["2021-07-01", "2021-07-02"] {
            try await scorebook.addMatch(
                NewMatch(game: "Pandemic", date: date, players: [NewPlayer("Ada")]))
            try await scorebook.delete(.match, date)
        }
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.restore(.match, "pandemic")
        }
        #expect(
            error?.choice?.candidates.map { "\($0.title): \($0.detail)" } == [
                "Pandemic, 2021-07-02 12:00: Ada", "Pandemic, 2021-07-01 12:00: Ada",
            ])
        try await scorebook.restore(.match, "last")
        #expect(try await scorebook.matches().map(\.date).contains("2021-07-02T12:00:00Z"))
        #expect(try await scorebook.deletedRecords().count == 1)
        try await scorebook.restore(.match, "last")
        let nothing = await #expect(throws: ScorebookError.self) {
            try await scorebook.restore(.match, "last")
        }
        #expect(nothing?.message == "there is no deleted match “last”")
    }

    /// Otherwise nobody could take back what was before it.
    @Test func aCommandThatCannotBeTakenBackIsLeftAside() async throws {
        let scorebook = try await scorebook()
        let before = try await contents(scorebook)
        var edit = MatchEdit()
        edit.notes = .set("Snow.")
        try await command(scorebook, "match edit").editMatch("last", edit)
        try await command(scorebook, "person add").addPerson("Bea")
        try await scorebook.execute(
            "UPDATE SBPerson SET emailAddress = 'b@example.org' WHERE firstName = 'Bea'")
        #expect(
            try await scorebook.lastCommand()?.obstacle == "Bea was changed since `person add` added it")
        await #expect(throws: ScorebookError.self) { try await scorebook.undo() }
        let run = try #require(try await scorebook.lastCommand()?.run)
        #expect(try await scorebook.lastCommand(skipping: [run])?.name == "match edit")
        #expect(try await scorebook.undo(skipping: [run]).command == "match edit")
        #expect(try await contents(scorebook).count == before.count + 1)
        #expect(try await scorebook.lastCommand() == nil)
    }

    @Test func aCommandWithNoneBeforeItIsNotLeftAside() async throws {
        let scorebook = try await scorebook()
        try await command(scorebook, "person add").addPerson("Bea")
        let run = try #require(try await scorebook.lastCommand()?.run)
        #expect(try await scorebook.lastCommand(skipping: [run]) == nil)
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.undo(skipping: [run])
        }
        #expect(error?.code == .notFound)
        #expect(try await scorebook.lastCommand()?.run == run)
    }

    @Test func aZoneThatGoesTakesOnlyItsOwnFromTheJournal() async throws {
        let scorebook = try await scorebook()
        let zone = try await scorebook.records.zones.create("club")
        try await command(scorebook, "person edit").editPerson("Ada", PersonEdit(name: .set("Ada King")))
        try await command(scorebook, "game add").limited(to: zone).addGame(NewGame(name: "Go"))
        try await scorebook.deleteZone(named: "club")
        #expect(try await scorebook.rows("SELECT command FROM scorebook_undo") == ["person edit"])
        #expect(try await scorebook.undo().command == "person edit")
        #expect(try await scorebook.person("Ada").person.name == "Ada")
    }

    @Test func whatIsDeletedForEverIsNotInTheJournal() async throws {
        let scorebook = try await scorebook()
        try await command(scorebook, "edit").editPerson("Ada", PersonEdit(name: .set("Xenia")))
        let name = try await scorebook.find(.person, "Xenia")
        _ = try await command(scorebook, "forever").deleteForever(name)
        #expect(try await scorebook.rows("SELECT changes FROM scorebook_undo").isEmpty)
    }

    @Test func aDeletionSaysWhatGoesAlong() async throws {
        let scorebook = try await scorebook()
        func summary(_ kind: RecordKind, _ text: String) async throws -> DeletionSummary {
            try await scorebook.deletionSummary(scorebook.find(kind, text))
        }
        let ada = try await summary(.person, "Ada")
        #expect(ada.title == "Ada" && ada.companions == ["the part in 1 match", "1 score"])
        #expect(try await summary(.game, "Pandemic").companions == ["1 match", "3 players", "2 scores"])
        #expect(try await summary(.match, "last").title == "the match Pandemic, 2021-08-01 00:00")
        #expect(ada.restorableUntil == Support.now + 180 * 86_400_000)
    }
}
