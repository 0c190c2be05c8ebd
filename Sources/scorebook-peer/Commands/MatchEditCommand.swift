import ArgumentParser
import Scorebook

extension MatchCommand {
    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Change a match.",
            discussion: """
                An empty value takes what was there away. Players are named by a part of their name:

                  scorebook-peer match edit last --winner Ada --add "Grace=12" --exchange "Alan=Alan Kay"
                """)

        @Argument(
            help: "The match: last, yesterday, Hearts@2024-12-25, its number in the last list, or its id.")
        var match: String

        @Option(help: "The game that was really played.")
        var game: String?

        @OptionGroup var details: MatchDetails

        @Option(help: ArgumentHelp("How good it was.", valueName: "0-10"))
        var rating: Emptiable<Double>?

        @Option(help: ArgumentHelp("Whether it is left out of statistics.", valueName: "true|false"))
        var ignored: Emptiable<Bool>?

        @Flag(help: "The match is over: it counts in statistics, and the scores say who has won.")
        var finished = false

        @Flag(help: "The match goes on later.")
        var unfinished = false

        @Option(
            name: .customLong("add"),
            help: ArgumentHelp("A player to add; may be given several times.", valueName: "person[=score]"))
        var added: [String] = []

        @Option(
            name: .customLong("remove"),
            help: "A player to take out, with the scores; may be given several times.")
        var removed: [String] = []

        @Option(
            name: .customLong("exchange"),
            help: ArgumentHelp("A player who was really somebody else.", valueName: "person=person"))
        var exchanged: [String] = []

        @OptionGroup var parts: MatchParts

        @Flag(help: "Nobody has won.")
        var noWinner = false

        @Flag(help: "Add players whom nobody knows yet as persons.")
        var newPersons = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard exchanged.allSatisfy({ $0.contains("=") }) else {
                throw ValidationError(
                    "write the person who played behind the one who did not, as in Alan=Grace")
            }
            guard !noWinner || parts.winners.isEmpty && !parts.won && !parts.lost else {
                throw ValidationError("give one of --winner, --no-winner, --won and --lost")
            }
            guard !finished || !unfinished else {
                throw ValidationError("give one of --finished and --unfinished")
            }
            guard !edit.isEmpty else { throw ValidationError("say what to change") }
        }

        func run(_ store: OpenStore) async throws {
            try await details.checkDate(store)
            let match = try await store.scorebook.editMatch(match, edit)
            try await output.write(match, store.changed(match.recordName))
        }

        private var edit: MatchEdit {
            var edit = MatchEdit()
            edit.game = game
            edit.date = change(details.date)
            edit.location = change(details.location)
            edit.durationMinutes = Change(details.duration)
            edit.rounds = Change(details.rounds)
            edit.notes = change(details.notes)
            edit.board = change(details.board)
            edit.rating = Change(rating)
            edit.ignored = Change(ignored)
            edit.unfinished = finished ? .clear : Change(unfinished ? true : nil)
            edit.players = players
            return edit
        }

        private var players: PlayersEdit {
            var players = PlayersEdit()
            players.added = added.map(NewPlayer.init(argument:))
            players.removed = removed
            players.exchanged = MatchParts.pairs(exchanged).map { ($0.player, $0.value ?? "") }
            if noWinner { players.winners = .set([]) }
            parts.put(into: &players)
            players.createsPersons = newPersons
            return players
        }
    }
}
