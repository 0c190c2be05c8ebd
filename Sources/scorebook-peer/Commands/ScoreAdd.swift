import ArgumentParser
import Scorebook

/// A match, and scores of some of its players.
struct ScoreArguments: ParsableArguments {
    @Argument(
        help: "The match: last, yesterday, Hearts@2024-12-25, its number in the last list, or its id.")
    var match: String

    @Argument(
        help: ArgumentHelp(
            "The scores, each behind the person's name or a part of it; or one person and one score.",
            valueName: "person=score"))
    var scores: [String]

    @Option(
        help: "The round, from 1 on; “next” for the one after the last (default: points of no round).")
    var round: String?

    func validate() throws {
        guard isOne || scores.allSatisfy({ $0.contains("=") }) else {
            throw ValidationError("write each score behind its player, as in Ada=5")
        }
        guard let round, round != "next", Int(round) == nil else { return }
        throw ValidationError("a round is a number, or next")
    }

    /// Whether the arguments are one person and one score.
    fileprivate var isOne: Bool { scores.count == 2 && !scores[0].contains("=") }

    /// Writes the scores, and shows the sheet.
    fileprivate func write(_ store: OpenStore, _ output: OutputOptions, replaces: Bool) async throws {
        let values = isOne ? [(scores[0], scores[1])] : scores.map(Self.value)
        let number: NewScores.Round =
            switch round {
            case nil: .none
            case "next": .next
            case let text?: Int(text).map { .number($0) } ?? .none
            }
        let added = try await store.scorebook.addScores(
            NewScores(match: match, round: number, values: values, replaces: replaces))
        if output.json, isOne { return try Terminal.write(json: added.scores[0]) }
        try output.write(added.scores, added.sheet.text(store.scorebook.time))
    }

    private static func value(_ text: String) -> (String, String) {
        let equals = text.lastIndex(of: "=") ?? text.endIndex
        return (String(text[..<equals]), String(text[equals...].dropFirst()))
    }
}

extension ScoreCommand {
    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Write down scores.",
            discussion: """
                Several scores go in one line, all of them or none. Then comes the sheet:

                  scorebook-peer score add last --round 3 Ada=5 Alan=4
                  scorebook-peer score add last Ada 5
                """)

        @OptionGroup var arguments: ScoreArguments
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await arguments.write(store, output, replaces: false)
        }
    }

    struct Set: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Mend scores: write them down in place of those that are there.",
            discussion: """
                Several scores go in one line, all of them or none. Then comes the sheet:

                  scorebook-peer score set last --round 3 Ada=7

                A player who has no score in that round gets one.
                """)

        @OptionGroup var arguments: ScoreArguments
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await arguments.write(store, output, replaces: true)
        }
    }
}
