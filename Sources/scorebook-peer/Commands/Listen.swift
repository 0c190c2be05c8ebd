import ArgumentParser
import Foundation
import Logging
import PeerSync
import ScorebookWeb
import ServiceLifecycle
import UnixSignals

struct Listen: SyncingCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Wait for the other machines, and stay in live sync with those that connect.",
        discussion: """
            Prints the address it listens on, and with --pair a code of six digits that pairs one machine. Also \
            connects to the paired machines that it finds on the network or has reached before, so that any number of \
            machines that listen find each other. Also uses \
            the mailboxes. Ends with Ctrl-C.
            """)

    @Option(help: "The address to listen on; 0.0.0.0 is every IPv4 address of this machine.")
    var host = "0.0.0.0"

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port = SyncEngine.defaultPort

    @Flag(help: "Show a code that pairs one machine.")
    var pair = false

    @Option(
        name: .customLong("connect"), parsing: .singleValue,
        help: ArgumentHelp(
            "Also connect to this machine, and stay connected; may be given several times.",
            valueName: "host[:port]"))
    var dials: [PeerAddress] = []

    @Flag(help: "Do not let machines on this network find this one. It still finds them.")
    var hidden = false

    @Flag(help: "Only wait: do not connect to paired machines that are found, or were reached before.")
    var passive = false

    @Flag(
        help: """
            Allow a machine that connects to make one of its scorebook and this one, where one of them is shared with others \
            already, without being asked.
            """)
    var merge = false

    @Flag(
        help: """
            Allow a machine that connects to replace this scorebook by its own, after a backup, without being asked.
            """)
    var allowReset = false

    @Option(
        help: ArgumentHelp(
            "How often to ask mailboxes on servers for news, from 1 to 1440. Folders are watched.",
            valueName: "minutes"),
        transform: Self.minutes)
    var mailboxInterval = 1

    @Flag(help: "Show the scorebook in the browsers of this machine, as `web` does.")
    var web = false

    @Option(help: "The port of the page; 0 picks a free one.")
    var webPort = WebServer.defaultPort

    @OptionGroup var page: PageOptions
    @OptionGroup var session: SessionOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        for port in [port, webPort] where !(0...65_535).contains(port) {
            throw ValidationError("a port is a number from 0 to 65535")
        }
        guard web || !page.lan else { throw ValidationError("--lan goes with --web") }
    }

    @Sendable private static func minutes(_ text: String) throws -> Int {
        guard let minutes = Int(text), (1...1440).contains(minutes) else {
            throw ValidationError("it is a number of minutes from 1 to 1440")
        }
        return minutes
    }

    var logger: Logger { session.logger }
    var stopped: Failure? { nil }

    func run(_ store: OpenStore) async throws {
        try await LiveOutput(scorebook: store.scorebook, isJSON: output.json, isVerbose: session.verbose).run
        {
            try await listen(store, printing: $0)
        }
    }

    private func listen(_ store: OpenStore, printing print: @escaping @Sendable (LiveOutput.Item) -> Void)
        async throws
    {
        // The pairing code is useless before the listener has an address.
        let (listening, isListening) = AsyncStream<Int>.makeStream()
        var allowed: Set<ZoneUnion> = []
        if merge { allowed.insert(.merge) }
        if allowReset { allowed.insert(.replaceListener) }
        let chooser = ZoneChooser(isJSON: output.json, allowed: allowed)
        let questions = MeetingQuestions()
        let decide: @Sendable (ZoneQuestion) async -> ZoneAnswer = { [web] question in
            let answer = await chooser.decide(question)
            return web && answer == .nobody ? await questions.decide(question) : answer
        }
        let engine = session.engine(store, announces: !hidden, decide: decide) { event in
            print(.event(event))
            if case .listening(_, let port) = event { isListening.yield(port) }
        }
        var listener = SyncListener(
            engine, host: host, port: port, dialing: dials, dialsKnownPeers: !passive)
        // Nobody could switch sync on again on a page that has gone with it.
        listener.waitsWhileSwitchedOff = web
        var services: [any Service] = []
        // The first service ends last: the machines get their goodbye also while a browser keeps the page from ending.
        if web {
            services.append(
                try page.server(
                    store, PageMachines(store, engine, isSyncing: true, questions, printing: print),
                    port: webPort, isJSON: output.json, printing: print))
        }
        services.append(listener)
        services.append(
            MailboxRunner(store, engine, every: .seconds(60 * mailboxInterval), printing: print))
        let showsCode = pair
        try await withThrowingTaskGroup(of: Void.self) { [services] group in
            group.addTask {
                for await port in listening.prefix(1) where showsCode {
                    let code = try await engine.pairing.show()
                    print(.code(code))
                    guard !output.json else { continue }
                    let address = reachable(port)
                    let call = "scorebook-peer connect \(address) --code \(code.formatted)"
                    print(.line("on the other machine run: \(call)"))
                }
            }
            group.addTask {
                try await session.run(services)
                isListening.finish()
            }
            // A code that cannot be shown ends the listener, too: somebody would wait for it.
            while try await group.next() != nil {}
        }
    }

    /// The address to type on another machine.
    private func reachable(_ port: Int) -> String {
        guard ["0.0.0.0", "::"].contains(host) else { return "\(PeerAddress(host: host, port: port))" }
        return OwnAddresses.reachable(port: port).first?.description ?? "ADDRESS:\(port)"
    }
}
