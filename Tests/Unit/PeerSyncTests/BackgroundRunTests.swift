import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import PeerSync

/// Whoever runs an engine anew waits until the run before has said its goodbyes, as where a view goes and comes back.
struct BackgroundRunTests {
    /// A run that has not ended when it is told to.
    private struct SlowRun: Service {
        let began = Signal()
        let stopping = Signal()
        let goodbyes = Signal()

        func run() async throws {
            began.raise()
            try? await gracefulShutdown()
            stopping.raise()
            await sayGoodbye()
        }

        /// Also in a cancelled task.
        func sayGoodbye() async { _ = await Task { await goodbyes.wait() }.value }
    }

    private final class Runners: Sendable {
        let names = Mutex<[String]>([])

        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    @TaskLocal private static var isOfCaller = false

    /// A run that tells whether it has what belongs to its caller.
    private final class Heir: Service {
        let began = Signal()
        let hasInherited = Mutex<Bool?>(nil)

        func run() async throws {
            hasInherited.withLock { $0 = BackgroundRunTests.isOfCaller }
            began.raise()
            try? await gracefulShutdown()
        }
    }

    /// Somebody else who would run: one who waits and is cancelled, and one who waits until the end.
    private func othersRun(_ runs: BackgroundRun, after slow: SlowRun) async throws {
        let runners = Runners()
        let cancelled = Task { try await runs.run { runners.add("cancelled") } }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let waiting = Task { try await runs.run { runners.add("waiting") } }
        slow.goodbyes.raise()
        try await waiting.value
        #expect(runners.names.withLock { $0 } == ["waiting"])
    }

    @Test(.timeLimit(.minutes(5))) func whoRunsAgainWaitsForTheCancelledRun() async throws {
        let (runs, slow) = (BackgroundRun(), SlowRun())
        let first = Task {
            try await runs.run {
                slow.began.raise()
                await slow.sayGoodbye()
            }
        }
        _ = await slow.began.wait()
        let error = await #expect(throws: PeerSyncError.self) { try await runs.run {} }
        #expect(error?.code == .cannotListen)
        first.cancel()
        try await othersRun(runs, after: slow)
        try await first.value
    }

    @Test(.timeLimit(.minutes(5))) func whoRunsWaitsForTheRunThatIsStopped() async throws {
        let (runs, slow) = (BackgroundRun(), SlowRun())
        try await runs.start(slow, logger: Logger(label: "test")) { _ in }
        _ = await slow.began.wait()
        await #expect(throws: PeerSyncError.self) { try await runs.run {} }
        let stop = Task { await runs.stop() }
        _ = await slow.stopping.wait()
        try await othersRun(runs, after: slow)
        await stop.value
    }

    @Test(.timeLimit(.minutes(5))) func whoStartsWaitsForTheCancelledRun() async throws {
        let (runs, slow, next) = (BackgroundRun(), SlowRun(), SlowRun())
        let first = Task {
            try await runs.run {
                slow.began.raise()
                await slow.sayGoodbye()
            }
        }
        _ = await slow.began.wait()
        first.cancel()
        let start = Task { try await runs.start(next, logger: Logger(label: "test")) { _ in } }
        slow.goodbyes.raise()
        try await start.value
        _ = await next.began.wait()
        next.goodbyes.raise()
        await runs.stop()
        try await first.value
    }

    /// As the shutdown of the services among which somebody starts it.
    @Test(.timeLimit(.minutes(5))) func aStartedRunHasNothingOfItsCaller() async throws {
        let (runs, heir) = (BackgroundRun(), Heir())
        try await Self.$isOfCaller.withValue(true) {
            try await runs.start(heir, logger: Logger(label: "test")) { _ in }
        }
        _ = await heir.began.wait()
        await runs.stop()
        #expect(heir.hasInherited.withLock { $0 } == false)
    }
}
