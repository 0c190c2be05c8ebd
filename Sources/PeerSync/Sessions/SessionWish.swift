import SyncProtocol
import Synchronization

/// What the user wants to be done once, however many connections that takes: a connection that is made again must not
/// replace a zone a second time.
final class SessionWish: Sendable {
    private struct State {
        var startsOver: Bool
        var union: ZoneUnion?
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - startsOver: to forget what the other side has, and to take it over anew.
    ///   - union: what becomes of the two default zones.
    init(startsOver: Bool = false, union: ZoneUnion? = nil) {
        state = Mutex(State(startsOver: startsOver, union: union))
    }

    /// Adds to what a caller wants what is left to be done.
    func adding(to call: SessionCall) -> SessionCall {
        let state = state.withLock { $0 }
        var call = call
        call.startsOver = state.startsOver
        call.union = state.union
        return call
    }

    func startedOver() { state.withLock { $0.startsOver = false } }

    func unionWasDone() { state.withLock { $0.union = nil } }
}
