import Logging
import ServiceLifecycle
import Synchronization

/// The one run of an engine at a time: in a task of its own, which others begin and end, or in that of a caller.
final class BackgroundRun: Sendable {
    private enum Phase {
        case idle
        case running(ServiceGroup, Task<Void, Never>)
        case stopping(Task<Void, Never>)
        /// Goes on until its caller ends it.
        case ofCaller
    }

    private struct State {
        var phase = Phase.idle
        /// Whether the last call was a start. One that waits for the end of a run then begins another.
        var isWanted = false
    }

    private let state = Mutex(State())

    /// Begins a run, unless one is going on. Waits for the end of one that somebody is stopping.
    ///
    /// - Parameter onFailure: called after a run that has ended by itself, because of an error.
    /// - Throws: ``PeerSyncError`` `cannotListen` while a run of a caller goes on.
    func start(
        _ service: any Service, logger: Logger, onFailure: @escaping @Sendable (any Error) -> Void
    ) async throws {
        state.withLock { $0.isWanted = true }
        while true {
            let ending = try state.withLock { state -> Task<Void, Never>? in
                if case .ofCaller = state.phase { throw Self.runsAlready }
                if case .stopping(let run) = state.phase { return run }
                guard case .idle = state.phase, state.isWanted else { return nil }
                let group = ServiceGroup(services: [service], logger: logger)
                let run = Task {
                    var failure: (any Error)?
                    do { try await group.run() } catch { failure = error }
                    self.state.withLock { $0.phase = .idle }
                    if let failure { onFailure(failure) }
                }
                state.phase = .running(group, run)
                return nil
            }
            guard let ending else { return }
            await ending.value
        }
    }

    /// Runs something in the task of the caller, who ends it.
    ///
    /// - Throws: ``PeerSyncError`` `cannotListen` while another run goes on; what `body` throws.
    func run(_ body: () async throws -> Void) async throws {
        try state.withLock { state in
            guard case .idle = state.phase else { throw Self.runsAlready }
            state.phase = .ofCaller
        }
        defer { state.withLock { $0.phase = .idle } }
        try await body()
    }

    private static let runsAlready = PeerSyncError(
        .cannotListen, "this engine runs already; it is for one call of start() or run(), not both")

    /// Ends the run gracefully, and waits until it has ended. Does nothing if there is none, and leaves that of a caller alone.
    func stop() async {
        let (group, run) = state.withLock { state -> (ServiceGroup?, Task<Void, Never>?) in
            state.isWanted = false
            switch state.phase {
            case .idle, .ofCaller: return (nil, nil)
            case .stopping(let run): return (nil, run)
            case .running(let group, let run):
                state.phase = .stopping(run)
                return (group, run)
            }
        }
        await group?.triggerGracefulShutdown()
        await run?.value
    }
}
