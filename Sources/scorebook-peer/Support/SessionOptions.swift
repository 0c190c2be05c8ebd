import ArgumentParser
import Logging
import PeerSync
import ServiceLifecycle

/// The options of all commands that meet other machines.
struct SessionOptions: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "What this machine is called on the others when they pair (default: its host name)."))
    var displayName: String?

    @Flag(
        name: .customLong("no-discovery"),
        help: "Neither look for machines on this network nor let them find this one; addresses still work.")
    var usesNoDiscovery = false

    @OptionGroup var all: EngineOptions

    var verbose: Bool { all.verbose }
    var logger: Logger { all.logger }

    func engine(
        _ store: OpenStore, announces: Bool = false,
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody },
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) -> SyncEngine {
        all.engine(
            store, displayName: displayName,
            discovery: usesNoDiscovery ? .off : .scorebook(announces: announces), decide: decide,
            onEvent: onEvent)
    }

    func run(_ services: [any Service]) async throws { try await all.run(services) }
}
