import ArgumentParser
import Scorebook

struct Undo: StoreCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        abstract: "Take back the last command of this machine.",
        discussion: """
            It takes back what the command changed in the scorebook, whatever it was, as new writes that reach the other \
            machines. Called again, it takes back the command before, up to a day. What somebody has changed since stays. \
            It does not take back what `zone`, `peers` and the other commands of syncing did.
            """)

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let undone = try await store.scorebook.undo()
        let counts = [
            (undone.restored, "came back"), (undone.changed, "as before"), (undone.deleted, "deleted"),
            (undone.kept, "left as changed since"),
        ].filter { $0.0 > 0 }.map { "\($0.counted("record")) \($1)" }
        let what = counts.isEmpty ? "nothing of it was left" : counts.joined(separator: ", ")
        try output.write(undone, "took back `\(undone.command)`: \(what)")
    }
}
