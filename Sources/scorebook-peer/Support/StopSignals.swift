import Logging
import ServiceLifecycle
import UnixSignals

/// SIGINT and SIGTERM, for commands that talk to other machines: they end such a command in good order, whenever they come.
///
/// While a service runs, the other machines are told goodbye. Before, nobody is to be told anything, and nothing is half
/// done that a kill would harm: the process ends at once, in the same way.
actor StopSignals {
    static let shared = StopSignals()

    private var group: ServiceGroup?

    /// Takes the signals from now on.
    ///
    /// - Parameter ending: how the command ends when it is stopped before its work is done.
    func trap(_ ending: Ending) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task {
            for await _ in signals { await stop(ending) }
        }
    }

    private func stop(_ ending: Ending) async {
        guard let group else { ending.take() }
        await group.triggerGracefulShutdown()
    }

    /// Runs a service until it ends, or a signal ends it.
    func run(_ service: any Service, logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: logger))
        self.group = group
        try await group.run()
    }
}
