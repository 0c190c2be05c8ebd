import ArgumentParser
import Foundation
import Logging
import PeerSync
import ServiceLifecycle
import Synchronization

struct Connect: SyncingCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Sync with a machine that listens; pair with it first if a code is given.",
        discussion: """
            Without a machine, lists those that are found on this network, and asks which one. A paired machine is found \
            by its name wherever it is. Stays in live sync, and connects again by itself when the other machine goes away, until Ctrl-C; with \
            --once it ends as soon as both machines hold the same records.
            """)

    @Argument(
        help: ArgumentHelp(
            "A paired machine's name, or an address, with its port if that is not 7431.",
            valueName: "name|host[:port]"))
    var machine: MachineArgument?

    @Option(
        help: ArgumentHelp(
            "The code that the other machine shows (pair, or listen --pair); - to be asked for it.",
            valueName: "NNN-NNN"),
        transform: { try CodeArgument($0, PairingCode.init(typed:)) })
    var code: CodeArgument<PairingCode>?

    @Flag(help: "End when both machines hold the same records.")
    var once = false

    @Flag(
        help: """
            For a machine that was away so long that it is refused: take the other scorebook over, after a backup, and \
            keep what was written here since the last sync with it.
            """)
    var startOver = false

    @OptionGroup var meeting: MeetingOptions
    @OptionGroup var session: SessionOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    var logger: Logger { session.logger }
    var stopped: Failure? { once ? .notYetEqual : nil }

    func run(_ store: OpenStore) async throws {
        let other = Latest<String>()
        let code = try await code?.value(PairingCode.init(typed:))
        do {
            try await sync(store, code, other)
        } catch let error as PeerSyncError {
            throw Failure(error, with: other.value)
        }
    }

    /// - Parameter other: takes what the other machine is called.
    private func sync(_ store: OpenStore, _ code: PairingCode?, _ other: Latest<String>) async throws {
        let live = LiveOutput(scorebook: store.scorebook, isJSON: output.json, isVerbose: session.verbose)
        guard once else {
            return try await live.run { print in
                let engine = session.engine(
                    store, decide: ZoneChooser(isJSON: output.json).decide,
                    onEvent: {
                        if case .connected(let name, _) = $0 { other.set(name) }
                        print(.event($0))
                    })
                try await session.run([try await connector(engine, store, code, other)])
            }
        }
        let arrivals = Arrivals()
        let report = Latest<SyncReport>()
        try await live.run { [isJSON = output.json] print in
            let engine = session.engine(store, decide: ZoneChooser(isJSON: isJSON).decide) { event in
                arrivals.take(event)
                if case .connected(let name, _) = event { other.set(name) }
                // The summary is the output. Only people see the events before it.
                switch event {
                case .changed, .inSync, .disconnected: break
                default: if !isJSON { print(.event(event)) }
                }
            }
            let connector = try await connector(engine, store, code, other)
            let sync = OneSync { try await connector.syncOnce() }
            try await session.run([sync])
            guard let result = sync.report.withLock({ $0 }) else { throw Failure.notYetEqual }
            report.set(result)
        }
        guard let report = report.value else { throw Failure.notYetEqual }
        guard output.json else { return await live.write(report, arrivals.all) }
        try Terminal.write(json: arrivals.figures(report))
    }

    private func connector(
        _ engine: SyncEngine, _ store: OpenStore, _ code: PairingCode?, _ other: Latest<String>
    ) async throws -> SyncConnector {
        let found: NamedMachine
        if let machine {
            found = try await machine.machine(in: store)
        } else {
            found = try await MachineChooser(engine: engine, store: store).choose()
        }
        other.set(found.description)
        return found.connector(engine, code: code, startsOver: startOver, union: meeting.union)
    }
}

/// The options for two scorebooks that meet for the first time.
struct MeetingOptions: ParsableArguments {
    @Flag(help: "When two scorebooks meet for the first time: make them one that has the records of both.")
    var merge = false

    @Flag(help: "When two scorebooks meet: keep the other one beside this one, as a zone of its own.")
    var beside = false

    @Flag(help: "When two scorebooks meet: give up this one, after a backup, and take the other.")
    var takeTheirs = false

    @Flag(
        help:
            "When two scorebooks meet: let the other machine give up its own, after a backup, and take this one."
    )
    var takeOurs = false

    func validate() throws {
        guard [merge, beside, takeTheirs, takeOurs].count(where: \.self) <= 1 else {
            throw ValidationError("choose one of --merge, --beside, --take-theirs and --take-ours")
        }
    }

    var union: ZoneUnion? {
        if merge { return .merge }
        if beside { return .beside }
        if takeTheirs { return .replaceCaller }
        return takeOurs ? .replaceListener : nil
    }
}

extension Failure {
    static let notYetEqual = Failure(
        .temporaryFailure, "stopped before both machines held the same records; run it again")
}

/// One sync as a service, so that a signal ends it with a goodbye.
final class OneSync<Report: Sendable>: Service {
    private let sync: @Sendable () async throws -> Report
    let report = Mutex<Report?>(nil)

    init(_ sync: @escaping @Sendable () async throws -> Report) {
        self.sync = sync
    }

    func run() async throws {
        do {
            let result = try await sync()
            report.withLock { $0 = result }
        } catch let error as PeerSyncError where error.code == .interrupted && Task.isShuttingDownGracefully {
            // A signal came first. The command reports it.
        }
    }
}
