import ArgumentParser
import Foundation
import PeerSync
import Scorebook

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Find, and repair, writes that a wrong clock dated into the future.",
        discussion: """
            Whose write of a field is the later one is decided by the time of the write. A machine whose clock is \
            ahead would always win, so the others refuse what it wrote more than five minutes into their future, \
            until its clock is set and its writes are repaired:

              1. set the clock of that machine (most systems can do it by themselves, over the network);
              2. run `scorebook-peer clock repair` there;
              3. sync again.
            """,
        subcommands: [Show.self, Repair.self], defaultSubcommand: Show.self)

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Hold the newest write against the clock (the default).")

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await store.scorebook.foldForReading()
            let report = try await records.database.read { try records.clock.report($0) }
            try output.write(ClockFigures(report), report.text(store.scorebook.time))
        }
    }

    struct Repair: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Date what was written too far in the future as written now.",
            discussion: """
                Set the clock first. The order of the writes stays as it was; nothing is lost. Another machine whose \
                clock was wrong, too, and that has taken these writes over, needs the same repair.
                """)

        @Flag(help: "Repair without asking; needed where nobody can be asked, as in a script.")
        var yes = false

        @Flag(help: "Say what would be repaired, and repair nothing.")
        var dryRun = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await records.foldPendingChanges()
            let found = try await records.database.read { try records.clock.report($0) }
            let time = store.scorebook.time
            guard found.needsRepair, !dryRun else {
                return try output.write(ClockFigures(found), found.text(time))
            }
            if !yes {
                let question =
                    "It is \(time.exactText(ClockFigures.text(found.now))) by this machine's clock. Is that right, and shall "
                    + "\(found.records.counted("record")) be dated so?"
                guard let answer = await Terminal.confirm(question) else {
                    throw Failure(
                        ExitCode(64),
                        "repairing \(found.records.counted("record")) needs --yes when nobody can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was repaired") }
            }
            let report = try await records.database.write { try records.clock.repair($0) }
            try output.write(
                ClockFigures(report),
                "repaired: \(report.records.counted("record")) dated as written now; sync again")
        }
    }
}

private struct ClockFigures: Encodable {
    let now: String
    let newest: String
    let records: Int
    let needsRepair: Bool

    init(_ report: ClockReport) {
        now = Self.text(report.now)
        newest = Self.text(report.newest)
        records = report.records
        needsRepair = report.needsRepair
    }

    static func text(_ milliseconds: Int64) -> String {
        ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? "a year beyond 9999"
    }
}

extension ClockReport {
    /// - Parameter time: the clock of the reader.
    fileprivate func text(_ time: LocalTime) -> String {
        let (now, newest) = (
            time.exactText(ClockFigures.text(now)), time.exactText(ClockFigures.text(newest))
        )
        guard needsRepair else {
            return "nothing lies in the future; the clock says \(now)"
        }
        return
            "the newest write is of \(newest), but the clock says \(now): "
            + "\(records.counted("record")) dated into the future\n"
            + "set the clock if it is wrong; if it is right, run `scorebook-peer clock repair`"
    }
}
