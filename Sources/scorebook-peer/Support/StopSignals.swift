import Dispatch
import Logging
import ServiceLifecycle
import UnixSignals

/// SIGINT and SIGTERM for commands that talk to other machines, or write a file. They end such a command in good order at any time.
///
/// While a service runs, it says goodbye to the other machines. Before that, no machine expects a goodbye, and a kill
/// harms nothing half done. So the process ends at once, in the same way. It also does so on a further signal, and if the
/// end takes too long: a browser may not read what the page sends, and nobody may read the output.
actor StopSignals {
    static let shared = StopSignals()

    /// How long the end may take. Another program may hold the database for ten seconds of it.
    private static let patience: DispatchTimeInterval = .seconds(15)
    /// Some programs send a signal twice. Only what comes later is from somebody who does not want to wait.
    private static let repetition: Duration = .seconds(1)

    private var group: ServiceGroup?
    private var firstSignal: ContinuousClock.Instant?

    /// Handles the signals from now on.
    ///
    /// - Parameter ending: the end of the command if a signal stops it before its work is done.
    func trap(_ ending: Ending) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task {
            for await _ in signals { await stop(ending) }
        }
    }

    private func stop(_ ending: Ending) async {
        guard let group else { ending.take() }
        if let firstSignal {
            if .now - firstSignal > Self.repetition { ending.take() }
            return
        }
        firstSignal = .now
        // No task of Swift's: whatever blocks the end may block those, too.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { ending.take() }
        await group.triggerGracefulShutdown()
    }

    /// Runs services until one ends, or a signal ends all.
    func run(_ services: [any Service], logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                logger: logger))
        self.group = group
        // Afterwards no service takes a signal any more, and the process ends at once.
        defer { self.group = nil }
        try await group.run()
    }
}
