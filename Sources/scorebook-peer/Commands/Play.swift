import ArgumentParser
import Foundation
import Scorebook

struct Play: ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a match: type the scores of each round as it goes on.",
        discussion: """
            Type one score for each player, in the order of the seats, and `-` for none; or scores with names, as in \
            Ada=5. Then comes the sheet. `undo` takes the last line back, `set 3: Ada=7` mends a score of round 3, `end` and \
            `pause` stop. A match is unfinished, and \
            counts in no statistics, until `end`; `play --resume` goes on with the latest one, or with another one:

              scorebook-peer play Hearts Ada Alan Grace
              scorebook-peer play --resume Hearts@yesterday

            Everything is in the scorebook as soon as it is typed. Without a terminal the same lines are read from the \
            standard input.
            """)

    @Argument(help: "The game: its name or a part of it. With --resume the match: last, Hearts@yesterday, …")
    var game: String?

    @Argument(help: ArgumentHelp("The players, in the order of their seats.", valueName: "person"))
    var players: [String] = []

    @Flag(help: "Go on with a match: the latest one, or the one that is named.")
    var resume = false

    @Option(help: "Where it is played.")
    var location: String?

    @Flag(help: "Add players whom nobody knows yet as persons, without asking.")
    var newPersons = false

    @Flag(help: "Add the game if nobody knows it yet, without asking.")
    var newGame = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if resume {
            guard players.isEmpty, location == nil else {
                throw ValidationError(
                    "--resume goes with a match alone; `match edit` changes its players and its place")
            }
        } else {
            guard game != nil, !players.isEmpty else {
                throw ValidationError("name the game and its players, or give --resume")
            }
        }
    }

    func run(_ store: OpenStore) async throws {
        let match =
            resume ? try await "\(store.scorebook.unfinishedMatch(game))" : try await begin(store)
        var keeping = try await store.scorebook.keepScore(of: match)
        let title = try await store.scorebook.matchSheet("\(keeping.match)").shortTitle(store.scorebook.time)
        if !output.json { Terminal.write("\(title): \(keeping.names)") }
        if Terminal.isInputATerminal {
            Terminal.writeError("type a score for each, or undo, set, pause, end; ? tells more")
        }
        var shown: String?
        let isEnded = try await read(&keeping, store, &shown)
        let sheet = try await store.scorebook.matchSheet("\(keeping.match)")
        if output.json { return try Terminal.write(json: sheet) }
        if isEnded {
            let text = sheet.text(store.scorebook.time)
            if text != shown { Terminal.write(text) }
        } else if sheet.isUnfinished {
            Terminal.write("paused; `scorebook-peer play --resume` goes on")
        } else {
            Terminal.write(
                "somebody has finished this match meanwhile; `match edit last --unfinished` opens it again")
        }
    }

    /// Adds the match. Asks on a terminal whether unknown names are new.
    private func begin(_ store: OpenStore) async throws -> String {
        let game = game ?? ""
        var isNewGame = newGame
        if !isNewGame { isNewGame = try await isNew(.game, game, store, "Add it as a new game?") }
        var hasNewPersons = newPersons
        var seats = players
        if !newPersons {
            for (index, player) in players.enumerated() {
                if try await isNew(.person, player, store, "Add this person?") {
                    hasNewPersons = true
                } else {
                    // Otherwise “Ad”, which means Ada, would be a new person beside one that is new.
                    seats[index] = "\(try await store.scorebook.find(.person, player))"
                }
            }
        }
        let match = try await store.scorebook.addMatch(
            NewMatch(
                game: game, players: seats.map { NewPlayer($0) }, location: location, isUnfinished: true,
                createsPersons: hasNewPersons, createsGame: isNewGame))
        return "\(match.recordName)"
    }

    /// Returns whether somebody at the terminal says that a name is a new one.
    ///
    /// - Throws: ``ScorebookError`` `notFound` when it is unknown and not new.
    private func isNew(
        _ kind: RecordKind, _ text: String, _ store: OpenStore, _ question: String
    ) async throws -> Bool {
        do {
            _ = try await store.scorebook.find(kind, text)
            return false
        } catch let error as ScorebookError where error.code == .notFound && Terminal.isInputATerminal {
            let hint = error.hint.map { " (\($0))" } ?? ""
            guard await Terminal.isConfirmed("\(error.message)\(hint). \(question)") else { throw error }
            return true
        }
    }

    // MARK: Lines

    /// Takes lines until somebody ends or pauses the match.
    ///
    /// - Parameter shown: the sheet that was written last.
    /// - Returns: whether it is ended.
    private func read(
        _ keeping: inout ScoreKeeping, _ store: OpenStore, _ shown: inout String?
    ) async throws -> Bool {
        var number = 0
        while true {
            if Terminal.isInputATerminal { Terminal.prompt("round \(keeping.round)> ") }
            guard let line = try await Terminal.nextLine() else { return false }
            number += 1
            do {
                switch try await keeping.take(line) {
                case nil: break
                case .sheet(let sheet): shown = write(sheet, store)
                case .takenBack(let sheet, let kept):
                    shown = write(sheet, store)
                    if kept > 0 {
                        Terminal.writeError("left \(RecordKind.score.counted(kept)) as changed since")
                    }
                case .nothingToUndo: Terminal.writeError("there is nothing to take back")
                case .help: Terminal.writeError(Self.help(keeping))
                case .pause: return false
                case .end: return true
                }
            } catch let error as ScorebookError {
                guard Terminal.isInputATerminal else {
                    let failure = Failure(error)
                    throw Failure(
                        failure.code, "line \(number): \(failure.message)",
                        hint: (failure.hint.map { "\($0); " } ?? "") + "the lines before it are written")
                }
                Terminal.writeError("error: \(error.message)")
                if let hint = error.hint { Terminal.writeError("hint: \(hint)") }
            }
        }
    }

    /// Writes a sheet, and returns it.
    private func write(_ sheet: MatchSheet, _ store: OpenStore) -> String {
        let text = sheet.text(store.scorebook.time)
        if !output.json { Terminal.write(text) }
        return text
    }

    private static func help(_ keeping: ScoreKeeping) -> String {
        """
        5 8 13        one score for each of \(keeping.names); - for none
        Ada=5 Bea=8   scores with names
        3: 5 8 13     scores of round 3
        set 3: Ada=7  another score in round 3; without the number, in the last one
        undo          takes the last line back
        sheet         shows the scores
        pause         stops; the match goes on later
        end           ends the match
        """
    }
}

extension ScoreKeeping {
    fileprivate var names: String { players.map { Display.printable($0) }.joined(separator: ", ") }
}
