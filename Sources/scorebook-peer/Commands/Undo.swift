import ArgumentParser
import PeerSync
import Scorebook

struct Undo: StoreCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back the last command of this machine.",
        discussion: """
            It takes back what the command changed in the scorebook, whatever it was, as new writes that reach the other \
            machines. Called again, it takes back the command before, up to a day. What somebody has changed since stays. \
            It does not take back what `zone`, `peers` and the other commands of syncing did.

            If somebody has changed what the command added, it is not taken back; --skip leaves it as it is, and takes back \
            the command before. A score or a place alone stays then, and all else goes back. If a whole match goes, a terminal asks.
            """)

    @Flag(help: "Take it back without asking.")
    var yes = false

    @Flag(help: "Leave the last command as it is, and take back the one before.")
    var skip = false

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let skipped = skip ? [try await store.scorebook.lastCommand()?.run].compactMap(\.self) : []
        let undone = try await confirmed(store, skipped)
        try output.write(undone, "took back `\(undone.command)`: \(try await Self.effect(undone, store))")
    }

    /// What the undo did, as in “brought back Grace Hopper, with 2 players, 12 scores”.
    private static func effect(_ undone: UndoneCommand, _ store: OpenStore) async throws -> String {
        var parts: [String] = []
        for (names, verb) in [
            (undone.restored, "brought back"), (undone.changed, "gave back the former values of"),
            (undone.deleted, "deleted"),
        ] where !names.isEmpty {
            parts.append("\(verb) \(try await store.phrase(ofAll: names))")
        }
        if undone.kept > 0 { parts.append("left \(undone.kept.counted("record")) as changed since") }
        let matches = undone.deletions.filter { $0.recordType == RecordKind.match.recordType }
        return (parts.isEmpty ? "nothing of it was left" : parts.joined(separator: ", and "))
            + (matches.isEmpty ? "" : "; \(wayBack(matches))")
    }

    /// Takes back the last command. Before, asks on a terminal if a whole match goes, and whether to leave what others have changed
    /// since.
    ///
    /// - Parameter skipped: the runs of commands to leave as they are.
    private func confirmed(_ store: OpenStore, _ skipped: [String]) async throws -> UndoneCommand {
        guard let last = try await store.scorebook.lastCommand(skipping: skipped) else {
            return try await store.scorebook.undo(skipping: skipped)
        }
        if let obstacle = last.obstacle {
            let question = "\(obstacle). Leave it as it is, and take back the command before?"
            guard Terminal.isInputATerminal, !yes else {
                throw Failure(
                    .dataError, "\(obstacle), so it is not taken back",
                    hint: "`undo --skip` leaves it as it is, and takes back the command before")
            }
            guard await Terminal.isConfirmed(question) else {
                throw Failure(.temporaryFailure, "nothing was taken back")
            }
            return try await confirmed(store, skipped + [last.run])
        }
        if Terminal.isInputATerminal, !yes, let gone = try await Self.deletion(of: last.matches, store) {
            guard await Terminal.isConfirmed("Take back `\(last.name)`? This deletes \(gone).") else {
                throw Failure(.temporaryFailure, "nothing was taken back")
            }
        }
        return try await store.scorebook.undo(last.run, skipping: skipped)
    }

    /// Returns which matches go; nil if none does. `match restore` still knows them when they are gone.
    private static func deletion(of matches: [RecordName], _ store: OpenStore) async throws -> String? {
        guard let first = matches.first else { return nil }
        let what =
            matches.count == 1
            ? try await store.scorebook.phrase(for: first) : RecordKind.match.counted(matches.count)
        return "\(what); \(wayBack(matches))"
    }

    private static func wayBack(_ matches: [RecordName]) -> String {
        matches.count == 1
            ? "`match restore last` brings it back" : "`match list --deleted` shows what can be restored"
    }
}
