import PeerSyncProtocol
import Synchronization

/// What the user wants to happen once, over however many connections: a second connection must not replace a zone a
/// second time.
final class SessionWish: Sendable {
    private struct State {
        var startsOver: Bool
        var union: ZoneUnion?
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - startsOver: whether to forget what the other side has, and to take it over anew.
    ///   - union: what becomes of the two default zones.
    init(startsOver: Bool = false, union: ZoneUnion? = nil) {
        state = Mutex(State(startsOver: startsOver, union: union))
    }

    /// Adds the part of the wish that is not done yet to a call.
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
