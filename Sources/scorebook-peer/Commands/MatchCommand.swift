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
            commandName: "add",
            abstract: "Add a match.",
            discussion: """
                Players are given in the order of their seats, each with the score behind an equals sign if there \
                is one already:

                  scorebook-peer match add Catan "Ada Lovelace=10" "Alan Turing=8" --location "at Ada's"
                """)

        @Argument(help: "The game: its name or a part of it, its number in the last list, or its id.")
        var game: String

        @Argument(
            help: ArgumentHelp("The players, each with an optional score.", valueName: "person[=score]"))
        var players: [String] = []

        @OptionGroup var details: MatchDetails
        @OptionGroup var parts: MatchParts

        @Flag(help: "The match goes on later: it counts in no statistics until `match edit --finished`.")
        var unfinished = false

        @Flag(help: "Add players whom nobody knows yet as persons.")
        var newPersons = false

        @Flag(help: "Add the game if nobody knows it yet; with --won or --lost as a cooperative one.")
        var newGame = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await details.checkDate(store)
            var new = NewMatch(
                game: game, date: details.date, players: players.map(NewPlayer.init(argument:)),
                location: details.location,
                durationMinutes: details.duration?.value, rounds: details.rounds?.value, notes: details.notes,
                board: details.board, isUnfinished: unfinished,
                createsPersons: newPersons, createsGame: newGame)
            parts.put(into: &new.parts)
            if parts.won || parts.lost { new.newGameRule = .together }
            let match: Match
            do {
                match = try await store.scorebook.addMatch(new)
            } catch let error as ScorebookError where error.code == .notFound {
                let hint =
                    (error.hint.map { "\($0); " } ?? "")
                    + "--new-game and --new-persons add what nobody knows yet"
                throw ScorebookError(error.code, error.message, hint: hint)
            }
            try await output.write(match, "added \(store.scorebook.phrase(for: match.recordName))")
        }
    }

    struct List: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List matches, the latest first (the default).",
            discussion: "--csv has one row for each player of a match.")

        @Option(help: "Only matches of this game.")
        var game: String?

        @Option(help: "Only matches that this person took part in.")
        var person: String?

        @Option(help: "Only matches that this person won.")
        var wonBy: String?

        @Option(help: "Only matches of this day and later, as 2026-11-01 or yesterday.")
        var since: String?

        @Option(help: "Only matches of this day and before.")
        var until: String?

        @Option(help: "Only matches at places with this text in their name.")
        var place: String?

        @Option(help: "Only matches with this text in the notes, the board, the place or a caption.")
        var text: String?

        @Option(help: "At most this many.")
        var limit: Int?

        @Flag(help: "Only deleted matches that can be restored.")
        var deleted = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func validate() throws {
            if let limit, limit < 0 { throw ValidationError("a limit is not negative") }
            guard !deleted || !hasFilter && limit == nil else {
                throw ValidationError("--deleted goes with no other choice of matches")
            }
        }

        private var hasFilter: Bool {
            [game, person, wonBy, since, until, place, text].contains { $0 != nil }
        }

        func run(_ store: OpenStore) async throws {
            if deleted { return try await output.writeDeleted(RecordKind.match.recordType, of: store) }
            let matches = try await store.scorebook.matchPages(
                MatchFilter(
                    game: game, person: person, winner: wonBy, since: since, until: until, place: place,
                    text: text,
                    limit: limit))
            if output.csv { return try await output.writeCSV(matches, of: store) }
            try await output.write(
                matches, names: matches.names, of: store, header: ["DATE", "GAME", "PLAYERS", "WON"],
                none: hasFilter ? "no match fits" : "there are no matches yet"
            ) {
                [
                    $0.date.map(store.scorebook.time.dayText) ?? "-", $0.game,
                    $0.players.joined(separator: ", "),
                    $0.isUnfinished
                        ? "(unfinished)"
                        : $0.result == .lost ? "(lost)" : $0.winners.joined(separator: ", "),
                ]
            }
        }
    }

    struct Show: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a match with its score table.")

        @Argument(
            help: "The match: last, yesterday, Hearts@2024-12-25, its number in the last list, or its id.")
        var match: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let sheet = try await store.scorebook.matchSheet(match)
            try output.write(sheet, sheet.text(store.scorebook.time))
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a match, with its players, scores, place and pictures.",
            discussion: DeletionOptions.discussion("match restore"))

        @Argument(
            help: "The match: last, yesterday, Hearts@2024-12-25, its number in the last list, or its id.")
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
            commandName: "restore",
            abstract: "Bring back a deleted match, with its players, scores, place and pictures.",
            discussion: "`match list --deleted` shows what can be restored, and until when.")

        @Argument(
            help:
                "The match: last, which is the last deletion; the game; its number in the last list; or its id."
        )
        var match = "last"

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await output.write(try await store.scorebook.restore(.match, match), in: store)
        }
    }
}
