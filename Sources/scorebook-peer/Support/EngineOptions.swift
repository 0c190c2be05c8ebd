import ArgumentParser
import Foundation
import Logging
import PeerSync
import Scorebook
import ServiceLifecycle

/// The options of all commands that sync, also through a mailbox.
struct EngineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How far another machine's clock may be ahead of this one's before it is refused.",
            valueName: "seconds"))
    var allowedSkew = Int(StoreClock.defaultAllowedSkew / 1000)

    @Flag(
        name: .shortAndLong,
        help: "Also write totals and the names of records, and to standard error what helps to find a fault.")
    var verbose = false

    func validate() throws {
        guard (0...31_536_000).contains(allowedSkew) else {
            throw ValidationError("--allowed-skew is a number of seconds from 0 to 31536000")
        }
    }

    func engine(
        _ store: OpenStore, displayName: String? = nil, discovery: DiscoveryOptions = .off,
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody },
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) -> SyncEngine {
        SyncEngine(
            app: .scorebook, store: store.scorebook.records, identity: store.identity,
            displayName: displayName ?? SyncEngine.hostName, discovery: discovery,
            allowedSkew: .seconds(allowedSkew), logger: logger,
            words: .scorebook, onEvent: onEvent,
            decide: decide)
    }

    /// Runs services until one ends, or a signal ends them gracefully; see ``StopSignals``.
    func run(_ services: [any Service]) async throws {
        try await StopSignals.shared.run(services, logger: logger)
    }

    var logger: Logger {
        guard verbose else { return .silent }
        var logger = Logger(label: "scorebook-peer") {
            StreamLogHandler(label: $0, stream: WaitingLog.shared)
        }
        logger.logLevel = .debug
        return logger
    }
}

extension Logger {
    /// A logger that writes nothing.
    static var silent: Logger { Logger(label: "scorebook-peer") { _ in SwiftLogNoOpLogHandler() } }
}
