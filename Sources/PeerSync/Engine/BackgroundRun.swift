import Logging
import ServiceLifecycle
import Synchronization

/// The run of a service in a task of its own, which others begin and end.
final class BackgroundRun: Sendable {
    private enum State {
        case idle
        case running(ServiceGroup, Task<Void, Never>)
        case stopping(Task<Void, Never>)
    }

    private let state = Mutex(State.idle)

    /// Begins a run, unless one is going on. Waits for the end of one that somebody is stopping.
    ///
    /// - Parameter onFailure: called when the run has ended by itself, because of an error.
    func start(
        _ service: any Service, logger: Logger, onFailure: @escaping @Sendable (any Error) -> Void
    ) async {
        while true {
            let ending = state.withLock { state -> Task<Void, Never>? in
                if case .stopping(let run) = state { return run }
                guard case .idle = state else { return nil }
                let group = ServiceGroup(services: [service], logger: logger)
                let run = Task {
                    do { try await group.run() } catch { onFailure(error) }
                    self.state.withLock { $0 = .idle }
                }
                state = .running(group, run)
                return nil
            }
            guard let ending else { return }
            await ending.value
        }
    }

    /// Ends the run gracefully, and waits until it has ended. Does nothing if there is none.
    func stop() async {
        let (group, run) = state.withLock { state -> (ServiceGroup?, Task<Void, Never>?) in
            switch state {
            case .idle: return (nil, nil)
            case .stopping(let run): return (nil, run)
            case .running(let group, let run):
                state = .stopping(run)
                return (group, run)
            }
        }
        await group?.triggerGracefulShutdown()
        await run?.value
    }
}
