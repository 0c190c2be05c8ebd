import ArgumentParser
import Scorebook

/// The options for what there is to say of a match beside its game and its players.
struct MatchDetails: ParsableArguments {
    @Option(
        help:
            "When it was played, as “yesterday 20:15”, 2026-11-21 or “21.11.2026 20:15” (default for a new match: now)."
    )
    var date: String?

    @Option(help: "Where it was played.")
    var location: String?

    @Option(help: ArgumentHelp("How long it took, in minutes.", valueName: "minutes"))
    var duration: Emptiable<Int>?

    @Option(help: ArgumentHelp("How many rounds were played.", valueName: "number"))
    var rounds: Emptiable<Int>?

    @Option(help: "Anything worth remembering.")
    var notes: String?

    @Option(help: "The board, map or variant.")
    var board: String?

    /// Asks on a terminal about a date that lies in the future, which is most often a slip in the year. Refuses it where nobody can
    /// be asked.
    func checkDate(_ store: OpenStore) async throws {
        let time = store.scorebook.time
        guard let date, !date.isEmpty, try time.isAfterTomorrow(time.moment(date)) else { return }
        let what = "“\(Display.printable(date))” is in the future"
        guard Terminal.isInputATerminal else {
            throw Failure(.dataError, what, hint: "is the year right? A match begins tomorrow at the latest")
        }
        guard await Terminal.isConfirmed("\(what). Is it right?") else {
            throw Failure(.temporaryFailure, "nothing was changed")
        }
    }
}
