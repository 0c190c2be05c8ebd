import ArgumentParser
import Scorebook

struct ScoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "score",
        abstract: "Add, set, list, show, edit, delete or restore scores.",
        subcommands: [Add.self, Set.self, List.self, Show.self, Edit.self, Delete.self, Restore.self],
        defaultSubcommand: List.self)

    struct List: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List scores (the default).")

        @Option(help: "Only those of this match.")
        var match: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func run(_ store: OpenStore) async throws {
            let scores = try await store.scorebook.scores(match: match)
            try await output.write(
                scores, of: store, header: ["DATE", "GAME", "PERSON", "ROUND", "SCORE"],
                none: "there are no scores yet"
            ) {
                [
                    $0.date.map(store.scorebook.time.dayText) ?? "-", $0.game, $0.person,
                    $0.score.round.map(String.init) ?? "-", $0.score.display,
                ]
            }
        }
    }

    struct Show: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a score.")

        @Argument(help: "The score: its number in the last list, or its id.")
        var score: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let found = try await store.scorebook.score(score)
            try await output.write(
                found, of: store,
                fields: [
                    ("person", found.person), ("round", found.score.round.map(String.init)),
                    ("score", found.score.display), ("match", "\(found.match)"),
                    ("changed", found.score.modificationDate.map(store.scorebook.time.text)),
                    ("record name", "\(found.score.recordName)"),
                ])
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(commandName: "edit", abstract: "Change a score.")

        @Argument(help: "The score: its number in the last list, or its id.")
        var score: String

        @Argument(help: "The new points.")
        var value: String?

        @Option(help: "The new round.")
        var round: Int?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let score = try await store.scorebook.editScore(
                score, ScoreEdit(value: value, round: Change(round)))
            try await output.write(score, store.changed(score.recordName))
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a score.",
            discussion: DeletionOptions.discussion("score restore"))

        @Argument(help: "The score: its number in the last list, or its id.")
        var score: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, .score, score)
        }
    }

    struct Restore: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Bring back a deleted score.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(
            help: "The score: last, which is the last deletion; its number in the last list; or its id.")
        var score = "last"

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await output.write(try await store.scorebook.restore(.score, score), in: store)
        }
    }
}

extension Score {
    /// The score as people write it.
    fileprivate var display: String {
        text ?? points.map(MatchSheet.Entry.written) ?? "-"
    }
}
