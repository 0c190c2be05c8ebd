import ArgumentParser
import Logging
import PeerSync
import ScorebookWeb

struct WebCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show the scorebook in a browser.",
        discussion: """
            Prints a link. A browser of this machine that opens it may see and change the scorebook from then on. \
            `listen --web` does the same, and syncs. Ends with Ctrl-C.
            """)

    @Option(help: "The port of the page; 0 picks a free one.")
    var port = WebServer.defaultPort

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("a port is a number from 0 to 65535") }
    }

    var stopped: Failure? { nil }

    func run(_ store: OpenStore) async throws {
        try await StopSignals.shared.run([WebServer(store, port: port, json: output.json)], logger: .silent)
    }
}

extension WebServer {
    /// Makes a server that prints its link.
    convenience init(_ store: OpenStore, port: Int, json: Bool) {
        self.init(store.scorebook, port: port) { link in
            if json {
                try? Terminal.write(json: ["event": "web", "link": link.absoluteString], compact: true)
            } else {
                Terminal.write("the page is at \(link.absoluteString)")
            }
        }
    }
}
