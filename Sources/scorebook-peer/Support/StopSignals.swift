import Dispatch
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// SIGINT, SIGTERM and SIGHUP for commands that talk to other machines, or write a file. They end such a command in good order at
/// any time. A command that began with `nohup` goes on after SIGHUP, the end of its terminal.
///
/// While a service runs, it says goodbye to the other machines. Before that, no machine expects a goodbye, and a kill
/// harms nothing half done. So the process ends at once, in the same way. It also does so on a further signal, and if the
/// end takes too long: a browser may not read what the page sends, and nobody may read the output.
final class StopSignals: Sendable {
    static let shared = StopSignals()

    /// How long the end may take. Another program may hold the database for ten seconds of it.
    private static let patience: DispatchTimeInterval = .seconds(15)
    /// Some programs send a signal twice. Only what comes later is from somebody who does not want to wait.
    private static let repetition: Duration = .seconds(1)

    private struct State {
        var group: ServiceGroup?
        var firstSignal: ContinuousClock.Instant?
    }

    private enum Answer {
        case end
        case shutDown(ServiceGroup)
        /// It is the first one, sent once more.
        case nothing
    }

    private let state = Mutex(State())
    /// A serial queue has a thread of its own: whatever blocks the end may block all threads of the tasks.
    private let queue = DispatchQueue(label: "stop")

    /// Handles the signals from now on.
    ///
    /// - Parameter ending: the end of the command if a signal stops it before its work is done.
    func trap(_ ending: Ending) async {
        for number in [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP]) {
            #if canImport(Darwin)
                // There a source does not keep the signal from ending the process.
                signal(number, SIG_IGN)
            #endif
            await withCheckedContinuation { trapped in
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setRegistrationHandler { trapped.resume() }
                // Nobody else keeps the source.
                source.setEventHandler { [self] in withExtendedLifetime(source) { stop(ending) } }
                source.activate()
            }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Runs on the queue.
    private func stop(_ ending: Ending) {
        switch answer() {
        case .end: ending.force()
        case .nothing: break
        case .shutDown(let group):
            queue.asyncAfter(deadline: .now() + Self.patience) { ending.force() }
            Task { await group.triggerGracefulShutdown() }
        }
    }

    private func answer() -> Answer {
        state.withLock { state in
            guard let group = state.group else { return .end }
            if let first = state.firstSignal { return .now - first > Self.repetition ? .end : .nothing }
            state.firstSignal = .now
            return .shutDown(group)
        }
    }

    /// Runs services until one ends, or a signal ends all.
    func run(_ services: [any Service], logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                logger: logger))
        state.withLock { $0.group = group }
        // Afterwards no service takes a signal any more, and the process ends at once.
        defer { state.withLock { $0.group = nil } }
        try await group.run()
    }
}
