import Logging
import ServiceLifecycle
import Synchronization

/// The one run of an engine at a time: in a task of its own, which others begin and end, or in that of a caller.
final class BackgroundRun: Sendable {
    private enum Phase {
        case idle
        case running(ServiceGroup, Task<Void, Never>, End)
        case stopping(Task<Void, Never>, End)
        /// Goes on until its caller ends it.
        case ofCaller
        /// Its caller was cancelled, or shuts down, and its sessions say goodbye.
        case ofLeavingCaller(End)
    }

    /// The end of a run, for which any number of tasks may wait.
    private struct End {
        private let gate = AsyncSemaphore(0)

        func come() { gate.signal() }

        /// - Throws: `CancellationError`.
        func wait() async throws {
            try await gate.wait()
            gate.signal()
        }
    }

    private struct State {
        var phase = Phase.idle
        /// Whether the last call was a start. One that waits for the end of a run then begins another.
        var isWanted = false

        /// The end of a run that is about to come.
        var nearEnd: End? {
            switch phase {
            case .stopping(_, let end), .ofLeavingCaller(let end): end
            case .idle, .running, .ofCaller: nil
            }
        }
    }

    private let state = Mutex(State())

    /// Begins a run, unless one is going on. Waits for the end of one that somebody is stopping, or whose caller was cancelled.
    ///
    /// - Parameter onFailure: called after a run that has ended by itself, because of an error.
    /// - Throws: ``PeerSyncError`` `cannotListen` while a run of a caller goes on; `CancellationError` when the task is cancelled
    ///   while it waits.
    func start(
        _ service: any Service, logger: Logger, onFailure: @escaping @Sendable (any Error) -> Void
    ) async throws {
        state.withLock { $0.isWanted = true }
        while true {
            let ending = try state.withLock { state -> End? in
                if case .ofCaller = state.phase { throw Self.runsAlready }
                if let end = state.nearEnd { return end }
                guard case .idle = state.phase, state.isWanted else { return nil }
                let group = ServiceGroup(services: [service], logger: logger)
                let end = End()
                // The shutdown and the priority of its caller are not for it.
                let run = Task.detached(priority: .medium) {
                    var failure: (any Error)?
                    do { try await group.run() } catch { failure = error }
                    self.state.withLock { $0.phase = .idle }
                    end.come()
                    if let failure { onFailure(failure) }
                }
                state.phase = .running(group, run, end)
                return nil
            }
            guard let ending else { return }
            try await ending.wait()
        }
    }

    /// Runs something in the task of the caller, who ends it. Waits as ``start(_:logger:onFailure:)`` does.
    ///
    /// - Throws: ``PeerSyncError`` `cannotListen` while another run goes on; what `body` throws; `CancellationError` when the task is
    ///   cancelled while it waits.
    func run(_ body: () async throws -> Void) async throws {
        try Task.checkCancellation()
        while let ending = try begin() { try await ending.wait() }
        let end = End()
        defer {
            state.withLock { $0.phase = .idle }
            end.come()
        }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await body()
        } onCancelOrGracefulShutdown: {
            self.state.withLock { $0.phase = .ofLeavingCaller(end) }
        }
    }

    /// Begins the run of a caller.
    ///
    /// - Returns: nil if it has begun; otherwise the end of another run, after which it may begin.
    private func begin() throws -> End? {
        try state.withLock { state -> End? in
            if let nearEnd = state.nearEnd { return nearEnd }
            guard case .idle = state.phase else { throw Self.runsAlready }
            state.phase = .ofCaller
            return nil
        }
    }

    private static let runsAlready = PeerSyncError(
        .cannotListen, "this engine runs already; it is for one call of start() or run(), not both")

    /// Ends the run gracefully, and waits until it has ended. Does nothing if there is none, and leaves that of a caller alone.
    func stop() async {
        let (group, run) = state.withLock { state -> (ServiceGroup?, Task<Void, Never>?) in
            state.isWanted = false
            switch state.phase {
            case .idle, .ofCaller, .ofLeavingCaller: return (nil, nil)
            case .stopping(let run, _): return (nil, run)
            case .running(let group, let run, let end):
                state.phase = .stopping(run, end)
                return (group, run)
            }
        }
        await group?.triggerGracefulShutdown()
        await run?.value
    }
}
