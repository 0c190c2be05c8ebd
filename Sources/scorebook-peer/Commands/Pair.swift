import ArgumentParser
import Foundation
import Logging
import NIOCore
import PeerSync
import Scorebook

struct Pair: SyncingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a new machine: show a code here, and type it there.",
        discussion: """
            On one machine `scorebook-peer pair` shows a code of six digits, and on a terminal a QR code with it. On the \
            other `scorebook-peer pair NNN-NNN` finds that machine on the network, pairs with it, and syncs. It works \
            while `listen` runs on either. The new machine may read and write the scorebook, unless --read-only or --zone \
            says otherwise. Of other zones it gets nothing by that: `peers grant` shares one.

            Other users of this computer can read what stands on a command line. `pair -` asks for the code, or reads it \
            from standard input.
            """)

    @Argument(
        help: ArgumentHelp(
            "What the other machine shows: the code, or the text of the QR code; - to be asked for it.",
            valueName: "NNN-NNN"),
        transform: { try CodeArgument($0, ShownCode.init(typed:)) })
    var shown: CodeArgument<ShownCode>?

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            """
            The address of the machine that shows the code, where the network does not let machines find each other. The two \
            sync there later as well.
            """,
            valueName: "host[:port]"))
    var address: PeerAddress?

    @Flag(help: "The new machine may only read.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "The new machine gets this zone only (default: the scorebook without its other zones).",
            valueName: "name"))
    var zone: String?

    @Option(
        help: """
            The port to listen on while the code is shown, if nothing listens yet: that of the later `listen`, because the other \
            machine remembers it.
            """)
    var port = SyncEngine.defaultPort

    @Flag(
        help: "Do not let machines on this network find this one: the other one needs --with, or the QR code."
    )
    var hidden = false

    @OptionGroup var meeting: MeetingOptions
    @OptionGroup var session: SessionOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    /// What somebody types.
    enum ShownCode: Sendable {
        case code(PairingCode)
        case link(PairingLink)

        init(typed text: String) throws {
            guard text.contains(":") else {
                self = .code(try PairingCode(typed: text))
                return
            }
            guard let link = PairingLink(text) else {
                throw ValidationError(
                    "this is not the whole text of a QR code that this version knows; the six digits do as well"
                )
            }
            self = .link(link)
        }
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("a port is a number from 0 to 65535") }
        guard shown == nil || (!readOnly && zone == nil && !hidden) else {
            throw ValidationError("say --read-only, --zone and --hidden on the machine that shows the code")
        }
        guard shown != nil || (address == nil && [nil, .merge].contains(meeting.union)) else {
            throw ValidationError("--with, --beside, --take-theirs and --take-ours go with a code")
        }
        if case .given(let code)? = shown { try check(code) }
    }

    /// - Throws: `ValidationError` if an option does not go with it.
    private func check(_ code: ShownCode) throws {
        guard case .link = code, address != nil else { return }
        throw ValidationError("the text of a QR code has the addresses; leave --with out")
    }

    var logger: Logger { session.logger }
    var stopped: Failure? { shown == nil ? .notPaired : .notYetEqual }

    func run(_ store: OpenStore) async throws {
        guard let shown else {
            return try await CodePresentation(
                store: store, session: session, output: output,
                welcome: Welcome(readOnly ? .read : .write, in: zone), port: port, isHidden: hidden,
                allowed: meeting.merge ? [.merge] : []
            ).run()
        }
        let code = try await shown.value(ShownCode.init(typed:))
        try check(code)
        try await pair(store, code)
    }

    private func pair(_ store: OpenStore, _ shown: ShownCode) async throws {
        if case .code = shown, address == nil, !output.json, Terminal.isInputATerminal {
            Terminal.writeError("looking for the machine that shows this code")
        }
        let live = LiveOutput(scorebook: store.scorebook, isJSON: output.json, isVerbose: session.verbose)
        let arrivals = Arrivals()
        let report = Latest<SyncReport>()
        try await live.run { print in
            if let result = try await sync(store, shown, arrivals, printing: print) { report.set(result) }
        }
        guard let report = report.value else { throw Failure.notYetEqual }
        if !report.didPair {
            Terminal.writeError(
                "warning: the other machine shows this code no more; the two were paired before, and rights stay as they are"
            )
        }
        if output.json { return try Terminal.write(json: arrivals.figures(report)) }
        await live.write(report, arrivals.all)
    }

    /// - Returns: nil if a signal came first.
    private func sync(
        _ store: OpenStore, _ shown: ShownCode, _ arrivals: Arrivals,
        printing print: @escaping @Sendable (LiveOutput.Item) -> Void
    ) async throws -> SyncReport? {
        let isJSON = output.json
        let engine = session.engine(store, decide: ZoneChooser(isJSON: isJSON).decide) { event in
            arrivals.take(event)
            switch event {
            case .paired, .replaced, .unionPassedOver: if !isJSON { print(.event(event)) }
            default: break
            }
        }
        let sync = OneSync { [address, meeting] in
            switch (shown, address) {
            case (.link(let link), _): try await engine.pair(link: link, union: meeting.union)
            case (.code(let code), let address?):
                try await engine.pair(code: code, at: address, union: meeting.union)
            case (.code(let code), nil): try await engine.pair(code: code, union: meeting.union)
            }
        }
        do {
            try await session.run([sync])
        } catch let error as PeerSyncError {
            throw Failure(error, with: arrivals.machine ?? address?.description)
        }
        return sync.report.withLock { $0 }
    }
}

extension Failure {
    static let notPaired = Failure(.temporaryFailure, "stopped before a machine has paired")
}
