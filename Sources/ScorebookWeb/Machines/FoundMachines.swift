import PeerSync
import Synchronization

/// The machines on this network, as the page shows them. A look takes a second, so that the page shows those of the last look,
/// and is told when the next one finds others.
final class FoundMachines: Sendable {
    /// How long a look lasts, and how long what it found is new enough.
    private static let lookTime: Duration = .seconds(1)
    private static let freshTime: Duration = .seconds(15)

    private struct State {
        var found: [FoundMachine] = []
        var lookedAt: ContinuousClock.Instant?
        var isLooking = false
    }

    private let engine: SyncEngine
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter onChange: called when a look has found other machines than the one before.
    init(_ engine: SyncEngine, onChange: @escaping @Sendable () -> Void) {
        self.engine = engine
        self.onChange = onChange
    }

    /// What the last look has found. Begins the next one if that was long ago.
    var current: [FoundMachine] {
        let (found, isDue) = state.withLock { state in
            let isOld = state.lookedAt.map { .now - $0 > Self.freshTime } ?? true
            let isDue = isOld && !state.isLooking
            if isDue { state.isLooking = true }
            return (state.found, isDue)
        }
        // It ends by itself, after a second.
        if isDue { Task { await look() } }
        return found
    }

    private func look() async {
        // Where nothing can be found, nothing is shown; doctor says why.
        let found = (try? await engine.machines(within: Self.lookTime)) ?? []
        let hasChanged = state.withLock { state in
            let hasChanged = found != state.found
            state = State(found: found, lookedAt: .now)
            return hasChanged
        }
        if hasChanged { onChange() }
    }
}
