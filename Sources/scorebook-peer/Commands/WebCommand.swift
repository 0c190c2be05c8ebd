import ArgumentParser
import Foundation
import Logging
import PeerSync
import ScorebookWeb

struct WebCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show the scorebook in a browser.",
        discussion: """
            Prints a link. A browser of this machine that opens it may see and change the scorebook for twelve hours. \
            With --lan it is 400 days, and phones and other devices can, too. `listen --web` does the same, and syncs. \
            Ends with Ctrl-C.
            """)

    @Option(help: "The port of the page; 0 picks a free one.")
    var port = WebServer.defaultPort

    @OptionGroup var page: PageOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("a port is a number from 0 to 65535") }
    }

    var logger: Logger { .silent }
    var stopped: Failure? { nil }

    func run(_ store: OpenStore) async throws {
        // It pairs, and finds machines; only `listen` syncs.
        let engine = SyncEngine(
            app: .scorebook, store: store.scorebook.records, identity: store.identity,
            displayName: SyncEngine.hostName, discovery: .scorebook(announces: false),
            words: .scorebook)
        try await LiveOutput(scorebook: store.scorebook, isJSON: output.json).run { print in
            let server = try page.server(
                store, PageMachines(store, engine, isSyncing: false), port: port, isJSON: output.json,
                printing: print)
            try await StopSignals.shared.run([server], logger: logger)
        }
    }
}

extension PageMachines {
    /// Makes what the pages about machines need, with the findings of `doctor`.
    ///
    /// - Parameter print: gets what happens when the page syncs with a mailbox.
    init(
        _ store: OpenStore, _ engine: SyncEngine, isSyncing: Bool,
        _ questions: MeetingQuestions = MeetingQuestions(),
        printing print: @escaping @Sendable (LiveOutput.Item) -> Void = { _ in }
    ) {
        self.init(
            engine: engine, isSyncing: isSyncing, questions: questions,
            mailboxes: StorePageMailboxes(store: store, engine: engine, print: print)
        ) {
            let ports = try await store.scorebook.records.pairing.listeningPorts()
            let port = ports.first ?? SyncEngine.defaultPort
            let facts = try await Examination(directory: store.directory, port: port).facts(about: nil)
            return Diagnosis.findings(of: facts).map { PageMachines.Finding($0.severity, $0.text) }
        }
    }
}
