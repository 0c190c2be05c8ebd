import ArgumentParser
import Foundation
import Scorebook

struct GameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "game",
        abstract: "Add, list, show, edit, merge, delete or restore games.",
        subcommands: [
            Add.self, List.self, Show.self, Edit.self, MergeCommand<GameListing>.self, Delete.self,
            Restore.self,
        ],
        defaultSubcommand: List.self)

    /// The details of a game besides its name.
    struct Details: ParsableArguments {
        @Option(help: ArgumentHelp("The number at BoardGameGeek.", valueName: "number"))
        var bggID: Emptiable<Int>?

        @Option(help: ArgumentHelp("The year of publication.", valueName: "year"))
        var year: Emptiable<Int>?

        @Option(help: ArgumentHelp("The least number of players.", valueName: "number"))
        var minPlayers: Emptiable<Int>?

        @Option(help: ArgumentHelp("The greatest number of players.", valueName: "number"))
        var maxPlayers: Emptiable<Int>?

        @Option(help: ArgumentHelp("Whether the highest score wins.", valueName: "true|false"))
        var highestWins: Emptiable<Bool>?

        @Option(help: ArgumentHelp("Whether the game is played without points.", valueName: "true|false"))
        var noPoints: Emptiable<Bool>?

        @Option(help: ArgumentHelp("Whether all play against the game.", valueName: "true|false"))
        var cooperative: Emptiable<Bool>?

        @Option(help: ArgumentHelp("Whether teams play.", valueName: "true|false"))
        var usesTeams: Emptiable<Bool>?

        @Option(help: ArgumentHelp("A picture of it.", valueName: "file"), completion: .file())
        var thumbnail: String?
    }

    struct Add: ZonedCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a game.")

        @Argument(help: "The game's name.")
        var name: String

        @OptionGroup var details: Details
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await store.checkIsNew(.game, name)
            let game = try await store.scorebook.addGame(
                NewGame(
                    name: name, bggID: details.bggID?.value, year: details.year?.value,
                    minPlayers: details.minPlayers?.value,
                    maxPlayers: details.maxPlayers?.value, highestWins: details.highestWins?.value,
                    noPoints: details.noPoints?.value,
                    cooperative: details.cooperative?.value, usesTeams: details.usesTeams?.value,
                    thumbnail: file(details.thumbnail)))
            try output.write(game, "added \(Display.printable(game.name ?? name))")
        }
    }

    struct List: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List all games (the default).")

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func run(_ store: OpenStore) async throws {
            let games = try await store.scorebook.games()
            try await output.write(
                games, of: store, header: ["NAME", "YEAR", "MATCHES"],
                none: "there are no games yet"
            ) {
                [
                    $0.game.name ?? "-", $0.game.year.map(String.init) ?? "-", $0.matches.grouped,
                ]
            }
            try await store.noteSharedNames(.game, output)
        }
    }

    struct Show: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a game.")

        @Argument(help: "The game: the name or a part of it, the number in the last list, or the id.")
        var game: String

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let found = try await store.scorebook.game(game)
            let game = found.game
            func yes(_ value: Bool?) -> String? { value.map { $0 ? "yes" : "no" } }
            try await output.write(
                found, of: store,
                fields: [
                    ("name", game.name), ("year", game.year.map(String.init)),
                    ("players", Self.range(game.minPlayers, game.maxPlayers)),
                    ("highest wins", yes(game.highestWins)), ("without points", yes(game.noPoints)),
                    ("cooperative", yes(game.cooperative)), ("teams", yes(game.usesTeams)),
                    ("BoardGameGeek", game.bggID.map(String.init)), ("thumbnail", game.thumbnail?.summary),
                    ("matches", found.matches.grouped),
                    ("changed", game.modificationDate.map(store.scorebook.time.text)),
                    ("record name", "\(game.recordName)"),
                ])
        }

        private static func range(_ least: Int?, _ greatest: Int?) -> String? {
            switch (least, greatest) {
            case (let least?, let greatest?): least == greatest ? "\(least)" : "\(least) to \(greatest)"
            case (let least?, nil): "\(least) or more"
            case (nil, let greatest?): "up to \(greatest)"
            case (nil, nil): nil
            }
        }
    }

    struct Edit: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Change a game.", discussion: "An empty value takes what was there away.")

        @Argument(help: "The game: the name or a part of it, the number in the last list, or the id.")
        var game: String

        @Option(help: "The new name.")
        var name: String?

        @OptionGroup var details: Details
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !edit.isEmpty else { throw ValidationError("say what to change") }
        }

        func run(_ store: OpenStore) async throws {
            if let name { try await store.checkIsNew(.game, name, renamed: game) }
            let game = try await store.scorebook.editGame(game, edit)
            try await output.write(game, store.changed(game.recordName))
        }

        private var edit: GameEdit {
            var edit = GameEdit()
            edit.name = change(name)
            edit.bggID = Change(details.bggID)
            edit.year = Change(details.year)
            edit.minPlayers = Change(details.minPlayers)
            edit.maxPlayers = Change(details.maxPlayers)
            edit.highestWins = Change(details.highestWins)
            edit.noPoints = Change(details.noPoints)
            edit.cooperative = Change(details.cooperative)
            edit.usesTeams = Change(details.usesTeams)
            edit.thumbnail = fileChange(details.thumbnail)
            return edit
        }
    }

    struct Delete: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a game, and all its matches.",
            discussion: DeletionOptions.discussion("game restore"))

        @Argument(help: "The game: the name or a part of it, the number in the last list, or the id.")
        var game: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, .game, game)
        }
    }

    struct Restore: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Bring back a deleted game, and all its matches.",
            discussion: "`record list --deleted` shows what can be restored, and until when.")

        @Argument(
            help:
                "The game: last, which is the last deletion; the name or a part of it; its number in the last list; or the id."
        )
        var game = "last"

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await output.write(try await store.scorebook.restore(.game, game), in: store)
        }
    }
}
