import ArgumentParser
import Scorebook

struct MatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "match",
        abstract: "Add, list, show, edit, delete or restore matches.",
        subcommands: [Add.self, List.self, Show.self, Edit.self, Delete.self, Restore.self],
        defaultSubcommand: List.self)

    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a match.",
            discussion: """
                Players are given in the order of their seats, each with the score behind an equals sign if there \
                is one already:

                  scorebook-peer match add Catan "Ada Lovelace=10" "Alan Turing=8" --location "at Ada's"
                """)

        @Argument(help: "The game: its name, its record name, or at least 4 characters of its UUID.")
        var game: String

        @Argument(
            help: ArgumentHelp("The players, each with an optional score.", valueName: "person[=score]"))
        var players: [String] = []

        @Option(help: "When it was played, as 2026-11-21 or 2026-11-21T20:15:00Z, in UTC (default: now).")
        var date: String?

        @Option(help: "Where it was played.")
        var location: String?

        @Option(help: "How long it took, in minutes.")
        var duration: Int?

        @Option(help: "How many rounds were played.")
        var rounds: Int?

        @Option(help: "Anything worth remembering.")
        var notes: String?

        @Option(help: "The board, map or variant.")
        var board: String?

        @Option(name: .customLong("winner"), help: "A player who won; may be given several times.")
        var winners: [String] = []

        @Flag(help: "Add players whom nobody knows yet as persons.")
        var newPersons = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            var entries = players.map(Self.player)
            for winner in winners {
                guard let index = entries.firstIndex(where: { $0.person.lowercased() == winner.lowercased() })
                else {
                    throw Failure(.dataError, "the winner “\(winner)” is not among the players")
                }
                entries[index].isWinner = true
            }
            let match = try await store.scorebook.addMatch(
                NewMatch(
                    game: game, date: date, players: entries, location: location, durationMinutes: duration,
                    rounds: rounds, notes: notes, board: board, createsPersons: newPersons))
            try output.write(match, "added \(match.recordName)")
        }

        private static func player(_ text: String) -> NewPlayer {
            guard let equals = text.lastIndex(of: "=") else { return NewPlayer(text) }
            return NewPlayer(String(text[..<equals]), score: String(text[text.index(after: equals)...]))
        }
    }

    struct List: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List matches, the latest first (the default).")

        @Option(help: "Only matches of this game.")
        var game: String?

        @Option(help: "Only matches that this person took part in.")
        var person: String?

        @Option(help: "At most this many.")
        var limit: Int?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if let limit, limit < 0 { throw ValidationError("a limit is not negative") }
        }

        func run(_ store: OpenStore) async throws {
            let matches = try await store.scorebook.matches(
                MatchFilter(game: game, person: person, limit: limit))
            try await output.write(
                matches, of: store, header: ["DATE", "GAME", "PLAYERS", "WON", "RECORD NAME"],
                none: "there are no matches yet"
            ) {
                [
                    String(($0.date ?? "-").prefix(10)), $0.game, $0.players.joined(separator: ", "),
                    $0.winners.joined(separator: ", "), "\($0.recordName)",
                ]
            }
        }
    }

    struct Show: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "Show a match with its score table.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var match: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let sheet = try await store.scorebook.matchSheet(match)
            try output.write(sheet, sheet.text)
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a match.", discussion: "An empty value takes what was there away.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var match: String

        @Option(help: "The game that was really played.")
        var game: String?

        @Option(help: "When it was played, in UTC.")
        var date: String?

        @Option(help: "Where it was played.")
        var location: String?

        @Option(help: "How long it took, in minutes.")
        var duration: Int?

        @Option(help: "How many rounds were played.")
        var rounds: Int?

        @Option(help: "Anything worth remembering.")
        var notes: String?

        @Option(help: "The board, map or variant.")
        var board: String?

        @Option(help: "How good it was.")
        var rating: Double?

        @Option(help: "Whether it is left out of statistics: true or false.")
        var ignored: Bool?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            var edit = MatchEdit()
            edit.game = game
            edit.date = change(date)
            edit.location = change(location)
            edit.durationMinutes = Change(duration)
            edit.rounds = Change(rounds)
            edit.notes = change(notes)
            edit.board = change(board)
            edit.rating = Change(rating)
            edit.ignored = Change(ignored)
            let match = try await store.scorebook.editMatch(match, edit)
            try output.write(match, "changed \(match.recordName)")
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a match, with its players, scores, place and pictures.",
            discussion: DeletionOptions.discussion("match restore"))

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var match: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, .match, match)
        }
    }

    struct Restore: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring back a deleted match, with its players, scores, place and pictures.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var match: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try output.write(try await store.scorebook.restore(.match, match))
        }
    }
}
