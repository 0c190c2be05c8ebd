import ArgumentParser
import Scorebook

struct ScoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "score",
        abstract: "Add, list, show, edit, delete or restore scores.",
        subcommands: [Add.self, List.self, Show.self, Edit.self, Delete.self, Restore.self],
        defaultSubcommand: List.self)

    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "Write down a score.")

        @Argument(help: "The match: its record name, or at least 4 characters of its UUID.")
        var match: String

        @Argument(help: "The player: the person's name, or a record name.")
        var player: String

        @Argument(
            help: "The points; anything that is not a plain number is kept as text.",
            transform: NegativeNumber.unmasked)
        var value: String

        @Option(help: "The round, from 1 on.")
        var round: Int?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let score = try await store.scorebook.addScore(
                NewScore(match: match, player: player, value: value, round: round))
            try output.write(score, "added \(score.recordName)")
        }
    }

    struct List: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "List scores (the default).")

        @Option(help: "Only those of this match.")
        var match: String?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let scores = try await store.scorebook.scores(match: match)
            try await output.write(
                scores, of: store, header: ["PERSON", "ROUND", "SCORE", "RECORD NAME"],
                none: "there are no scores yet"
            ) {
                [
                    $0.person, $0.score.round.map(String.init) ?? "-", $0.score.display,
                    "\($0.score.recordName)",
                ]
            }
        }
    }

    struct Show: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "Show a score.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
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
                    ("changed", found.score.modificationDate), ("record name", "\(found.score.recordName)"),
                ])
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "Change a score.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var score: String

        @Argument(help: "The new points.", transform: NegativeNumber.unmasked)
        var value: String?

        @Option(help: "The new round.")
        var round: Int?

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let score = try await store.scorebook.editScore(
                score, ScoreEdit(value: value, round: Change(round)))
            try output.write(score, "changed \(score.recordName)")
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a score.",
            discussion: DeletionOptions.discussion("score restore"))

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
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
            abstract: "Bring back a deleted score.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(help: "The record name, or at least 4 characters of its UUID.")
        var score: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try output.write(try await store.scorebook.restore(.score, score))
        }
    }
}

extension Score {
    /// The score as people write it.
    fileprivate var display: String {
        if let text { return text }
        guard let points else { return "-" }
        return points == points.rounded() && abs(points) < 1e15 ? String(Int(points)) : String(points)
    }
}
