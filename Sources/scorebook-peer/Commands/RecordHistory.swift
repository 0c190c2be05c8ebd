import ArgumentParser
import PeerSync
import Scorebook

extension RecordCommand {
    struct History: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Show what sync overwrote, with both values, both machines and the times.",
            discussion: """
                This machine keeps for 180 days what other machines overwrote here, what they deleted, and the values that \
                came from them too late. `record restore NAME --at TIME` writes the values of a time again.
                """)

        @Argument(
            help: ArgumentHelp(
                "The record's whole name; without one, all records.", valueName: "SBScore|~|uuid"))
        var name: String?

        @Option(
            help: ArgumentHelp(
                "Only from this time on: a day, a time, or both (default without a name: yesterday).",
                valueName: "time"))
        var since: String?

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let scorebook = store.scorebook
            var list: [HistoryListing]
            if let name {
                list = try await scorebook.history(
                    of: try RecordCommand.checked(name, scorebook.records.schema))
                if let since {
                    let begin = try scorebook.time.moment(since)
                    list.removeAll { ISO8601.milliseconds(canonical: $0.noticedAt) ?? 0 < begin }
                }
            } else {
                list = try await scorebook.history(since: scorebook.time.moment(since ?? "yesterday"))
            }
            if output.json { return try Terminal.write(json: list) }
            guard !list.isEmpty else { return Terminal.write("nothing was overwritten") }
            for entry in list { Terminal.write(entry.words(scorebook.time)) }
        }
    }
}

extension HistoryListing {
    /// As in “2026-11-20 20:15:03  the score …, points: 47 (study, 20:14:59) became 30 (kitchen, 20:15:01)”.
    fileprivate func words(_ time: LocalTime) -> String {
        func written(_ value: Value) -> String {
            "\(Display.printable(value.text ?? "nothing")) (\(value.machine.words), \(time.exactText(value.at)))"
        }
        let begin = "\(time.exactText(noticedAt))  \(title)"
        guard let field else {
            return "\(begin): deleted by \(won.machine.words), \(time.exactText(won.at))"
        }
        return wasShown
            ? "\(begin), \(field): \(written(lost)) became \(written(won))"
            : "\(begin), \(field): \(written(lost)) came too late against \(written(won))"
    }
}
