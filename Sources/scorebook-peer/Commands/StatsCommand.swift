import ArgumentParser
import Scorebook

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show who plays what, how often, and who wins.",
        discussion: """
            Matches that are marked as ignored are left out. docs/statistics.md says what counts as won, and how a \
            tie, a match of one and a match without result are counted.
            """,
        subcommands: [All.self, OfPerson.self, OfGame.self, OfYear.self], defaultSubcommand: All.self)

    /// What all of them take.
    struct Options: ParsableArguments {
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions
    }

    struct All: StatisticsCommand {
        static let configuration = CommandConfiguration(
            commandName: "all", abstract: "Figures of all plays (the default).")

        @OptionGroup var options: Options

        func run(_ store: OpenStore) async throws {
            try await show(store, StatisticsFilter(), of: "all plays")
        }
    }

    struct OfPerson: StatisticsCommand {
        static let configuration = CommandConfiguration(
            commandName: "person", abstract: "One person's plays, wins, streaks and opponents.")

        @Argument(help: "The person's name.")
        var person: String

        @Option(help: "Only this year.")
        var year: Int?

        @OptionGroup var options: Options

        func run(_ store: OpenStore) async throws {
            let name = try await store.scorebook.person(person).person.name
            try await show(store, StatisticsFilter(person: person, year: year), of: name)
        }
    }

    struct OfGame: StatisticsCommand {
        static let configuration = CommandConfiguration(
            commandName: "game", abstract: "One game's plays, players and best scores.")

        @Argument(help: "The game's name.")
        var game: String

        @Option(help: "Only this year.")
        var year: Int?

        @OptionGroup var options: Options

        func run(_ store: OpenStore) async throws {
            let name = try await store.scorebook.game(game).game.name ?? ""
            try await show(store, StatisticsFilter(game: game, year: year), of: name)
        }
    }

    struct OfYear: StatisticsCommand {
        static let configuration = CommandConfiguration(
            commandName: "year", abstract: "The plays of one year.")

        @Argument(help: "The year, as 2025.")
        var year: Int

        @OptionGroup var options: Options

        func run(_ store: OpenStore) async throws {
            try await show(store, StatisticsFilter(year: year), of: nil)
        }
    }
}

/// A command that shows figures.
protocol StatisticsCommand: ZonedCommand {
    var options: StatsCommand.Options { get }
}

extension StatisticsCommand {
    static var makesStore: Bool { false }

    var zoneOptions: ZoneOptions { options.zoneOptions }
    var storeOptions: StoreOptions { options.storeOptions }

    /// - Parameter subject: whose figures they are; nil for those of a year.
    fileprivate func show(_ store: OpenStore, _ filter: StatisticsFilter, of subject: String?) async throws {
        let figures = try await store.scorebook.statistics(filter)
        if options.output.json { return try Terminal.write(json: figures) }
        let title = [subject, filter.year.map(String.init)].compactMap(\.self).joined(separator: " in ")
        Terminal.write(StatisticsText(figures, of: title, filter).text)
    }
}
