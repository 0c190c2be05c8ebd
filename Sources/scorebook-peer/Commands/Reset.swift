import ArgumentParser
import Logging
import PeerSync
import Scorebook

struct Reset: SyncingCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract:
            "Start over: make this scorebook what a paired machine has, or that machine what this one has.",
        discussion: """
            Whoever is replaced makes a backup first, in the directory backups of its store. The user of a machine that \
            is to be replaced has to allow it: its `listen` asks on a terminal, or was started with --allow-reset. In \
            the end the two digests are equal. Machines that are paired with either of them get what is different at \
            their next sync, and give back what they have and the two do not; reset them as well.
            """)

    @Option(
        help: ArgumentHelp("This scorebook becomes what that machine has.", valueName: "name|host[:port]"))
    var from: MachineArgument?

    @Option(
        help: ArgumentHelp("That machine becomes what this scorebook has.", valueName: "name|host[:port]"))
    var to: MachineArgument?

    @Flag(help: "Replace this scorebook without asking; needed where nobody can be asked, as in a script.")
    var yes = false

    @OptionGroup var session: SessionOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (from == nil) != (to == nil) else {
            throw ValidationError("say one of --from and --to")
        }
    }

    var logger: Logger { session.logger }
    var stopped: Failure? { .notYetEqual }

    func run(_ store: OpenStore) async throws {
        let records = store.scorebook.records
        guard let machine = from ?? to else { return }
        let named = try await machine.machine(in: store)
        try await records.foldPendingChanges()
        let zone = try await records.database.read { try records.zones.current($0, .default) }
        if from != nil, !yes { try await confirm(zone, named) }
        let arrivals = Arrivals()
        let union: ZoneUnion = from == nil ? .replaceListener : .replaceCaller
        let result: SyncReport?
        do {
            result = try await ProgressLine.shared.measuring("starting over with \(named)") {
                [session] progress in
                let engine = session.engine(store) { event in
                    arrivals.take(event)
                    event.report(to: progress)
                }
                var connector = named.connector(engine, union: union)
                connector.isReset = true
                let sync = OneSync { [connector] in try await connector.syncOnce() }
                try await session.run([sync])
                return sync.report.withLock { $0 }
            }
        } catch let error as PeerSyncError {
            let failure = Failure(error, with: arrivals.machine ?? named.description)
            throw Self.failure(failure, named, arrivals.backup)
        }
        guard let report = result else { throw Self.failure(.notYetEqual, named, arrivals.backup) }
        if output.json {
            return try Terminal.write(
                json: Figures(backup: arrivals.backup, sync: SyncFigures(report.statistics, report.digest)))
        }
        if let backup = arrivals.backup { Terminal.write("what was here is in \(backup)") }
        await LiveOutput(scorebook: store.scorebook, isJSON: false, isVerbose: session.verbose).write(
            report, arrivals.all)
    }

    /// Adds what this scorebook is now to why the two do not hold the same.
    ///
    /// - Parameter backup: where what was here is; nil if nothing was replaced here.
    private static func failure(_ failure: Failure, _ machine: NamedMachine, _ backup: String?) -> Failure {
        guard let backup else { return failure }
        let way = Hint.filled("`scorebook-peer connect HOST --once`", ["HOST": machine.description])
        let state =
            "this scorebook is empty, or not whole, until \(way) has brought what is there; what was here is in \(backup)"
        return Failure(
            failure.code, failure.message,
            hint: [failure.hint, state].compactMap(\.self).joined(separator: "; "))
    }

    private struct Figures: Encodable {
        @OrNull var backup: String?
        let sync: SyncFigures
    }

    private func confirm(_ zone: Zone, _ machine: NamedMachine) async throws {
        let what = "this scorebook, with \(Int(zone.digest.count).counted("record")),"
        guard
            let answer = await Terminal.confirm(
                "Replace \(what) here by what \(machine) has? A backup is made first.")
        else {
            throw Failure(ExitCode(64), "replacing \(what) needs --yes when nobody can be asked")
        }
        guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
    }
}
