import Logging
import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore
import ServiceLifecycle
import Synchronization

/// A service that connects to one machine and stays in live sync with it: when the connection ends, it makes it again.
public struct SyncConnector: Service {
    private let engine: SyncEngine
    private let destination: Destination
    private let typed: TypedCode?
    private let wish: SessionWish
    /// The set that the sessions of this connector join.
    private let sessions: SessionSet
    /// Limits how many connectors dial at a time, until the other side has proved who it is; nil without such a limit.
    private let turns: AsyncSemaphore?
    /// The pauses before the next attempt.
    private let pause = Pause()
    /// Whether ``run()`` tries again whatever happens, also when the machine is not there at first. An app that syncs in
    /// the background wants that. Who types an address wants to hear that it is wrong.
    public var neverGivesUp = false
    /// Whether the union also replaces a default zone that the two machines have in common already: one of them starts over with what the
    /// other one has. Otherwise such a zone stays as it is, whatever the union.
    public var isReset = false

    /// Creates a connector to a machine that listens somewhere.
    ///
    /// - Parameters:
    ///   - engine: the engine of this machine.
    ///   - address: where the other machine listens.
    ///   - code: pairs with the machine if it is not paired yet. It is for one attempt: when the connection breaks while the two pair, type
    ///     it again, in another connector.
    ///   - startsOver: for a machine that was away too long: the first session forgets what the other machine has
    ///     acknowledged, keeps what was changed here since then, and takes over what the other machine holds.
    ///   - union: what becomes of the two default zones, if that has to be decided; nil asks the engine's `decide`.
    ///     It does nothing to a zone that both have already, unless ``isReset`` is set.
    public init(
        _ engine: SyncEngine, to address: PeerAddress, code: PairingCode? = nil, startsOver: Bool = false,
        union: ZoneUnion? = nil
    ) {
        self.init(
            engine, .address(address, .anyone), code, SessionWish(startsOver: startsOver, union: union))
    }

    /// Creates a connector to a paired machine, wherever it is: it dials where discovery finds the machine, where this one has
    /// reached it before, and at an address that somebody typed. Whoever else answers there, it hangs up.
    ///
    /// - Parameters:
    ///   - engine: the engine of this machine.
    ///   - peer: the paired machine.
    ///   - typed: an address to try as well.
    ///   - startsOver: see ``init(_:to:code:startsOver:union:)-(_,PeerAddress,_,_,_)``.
    ///   - union: see there.
    public init(
        _ engine: SyncEngine, to peer: Peer, orAt typed: PeerAddress? = nil, startsOver: Bool = false,
        union: ZoneUnion? = nil
    ) {
        self.init(
            engine, .peer(peer, typed: typed, Finder(engine)), nil,
            SessionWish(startsOver: startsOver, union: union))
    }

    /// Creates a connector to another engine of this process, which need not listen: for the tests of an app. Everything
    /// but the network is as between two machines.
    ///
    /// ```swift
    /// let connector = SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show())
    /// try await connector.syncOnce()
    /// ```
    ///
    /// - Parameters:
    ///   - engine: the engine that connects.
    ///   - other: the engine that answers.
    ///   - code: pairs with the other engine if it is not paired yet.
    public init(_ engine: SyncEngine, to other: SyncEngine, code: PairingCode? = nil) {
        self.init(engine, .engine(other), code)
    }

    /// Creates a connector that pairs with the machine that is expected at an address, also if this one knows it.
    init(
        _ engine: SyncEngine, to address: PeerAddress, expecting expected: ExpectedMachine, code: PairingCode,
        union: ZoneUnion?
    ) {
        self.init(
            engine, .address(address, expected), code, pairsAnew: true, SessionWish(union: union))
    }

    /// Creates a connector of a listener, which waits for all sessions before it ends.
    ///
    /// - Parameters:
    ///   - peer: the machine that has to answer; nil for any.
    ///   - turns: limits how many connectors dial at a time.
    init(
        _ engine: SyncEngine, to address: PeerAddress, expecting peer: Peer? = nil, sessions: SessionSet,
        turns: AsyncSemaphore? = nil
    ) {
        self.init(
            engine, peer.map { .announced($0, address) } ?? .address(address, .anyone), nil,
            sessions: sessions, turns: turns)
    }

    /// Creates a connector of a listener to an address from before, where one of some machines may be.
    ///
    /// - Parameters:
    ///   - keys: the keys of these machines, asked for before each attempt.
    ///   - turns: limits how many connectors dial at a time.
    init(
        _ engine: SyncEngine, to address: PeerAddress,
        expectingOneOf keys: @escaping @Sendable () -> [PublicKey],
        sessions: SessionSet, turns: AsyncSemaphore
    ) {
        self.init(engine, .remembered(address, keys: keys), nil, sessions: sessions, turns: turns)
    }

    private init(
        _ engine: SyncEngine, _ destination: Destination, _ code: PairingCode?, pairsAnew: Bool = false,
        _ wish: SessionWish = SessionWish(), sessions: SessionSet = SessionSet(), turns: AsyncSemaphore? = nil
    ) {
        self.turns = turns
        self.engine = engine
        self.destination = destination
        typed = code.map { TypedCode($0, pairsAnew: pairsAnew) }
        self.wish = wish
        self.sessions = sessions
    }

    /// Connects once, syncs until both sides hold the same records, and ends.
    ///
    /// - Throws: ``PeerSyncError``, `interrupted` also when the service shuts down; `CancellationError` when the task is cancelled;
    ///   errors of SQLite when it cannot read whether sync is switched on.
    @discardableResult
    public func syncOnce() async throws -> SyncReport {
        try await once(SessionCall(isOnce: true), wish, orElse: "everything was exchanged")
    }

    /// Connects once, checks every record of the two machines, mends what is wrong or differs, and ends.
    ///
    /// - Throws: as ``syncOnce()``.
    public func verify() async throws -> SyncReport {
        try await once(
            SessionCall(isOnce: true, comparesEverything: true), nil, orElse: "everything was compared")
    }

    private func once(_ call: SessionCall, _ wish: SessionWish?, orElse aim: String) async throws
        -> SyncReport
    {
        try await tellingCancellation {
            try await watching {
                guard let report = try await session(call, wish) else {
                    throw PeerSyncError(.interrupted, "\(destination) ended the connection before \(aim)")
                }
                return report
            }
        }
    }

    /// Stays connected until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``PeerSyncError``: `switchedOff`; `storeUnusable` when a file of the store was removed or replaced;
    ///   unless ``neverGivesUp`` is set, also when the first attempt fails, or when a later one fails with an error that
    ///   another attempt does not mend. Errors of SQLite when it cannot read whether sync is switched on.
    public func run() async throws {
        try await watching { try await stayConnected(neverGivesUp ? .always : .untilItIsHopeless) }
    }

    /// Connects again and again, until the task is cancelled or the service group shuts down.
    ///
    /// - Parameter isWanted: asked before each attempt; false ends it.
    func stayConnected(
        _ persistence: Reconnection.Persistence, while isWanted: () async -> Bool = { true }
    ) async throws {
        var reconnection = Reconnection(persistence)
        while !Task.isCancelled, !Task.isShuttingDownGracefully, await isWanted() {
            let begin = ContinuousClock.now
            var error: PeerSyncError?
            let wasInSync: Bool
            do {
                wasInSync = try await session(SessionCall(), wish) != nil
            } catch let failure as PeerSyncError {
                (error, wasInSync) = (failure, failure.cameAfterSync)
            }
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
            switch reconnection.ended(with: error, wasInSync: wasInSync, after: ContinuousClock.now - begin) {
            case .giveUp:
                if let error, persistence == .untilItIsHopeless { throw error }
                return
            case .tryAgain(let pause, let reason): await wait(pause, telling: reason)
            }
        }
    }

    /// Pauses before the next attempt. A random part keeps machines that were cut off together from coming back
    /// together.
    private func wait(_ pause: Duration, telling reason: PeerSyncError?) async {
        let pause = pause * Double.random(in: 0.75...1.25)
        if let reason {
            engine.onEvent(
                .retrying(address: destination.description, seconds: pause / .seconds(1), reason))
        } else {
            engine.logger.debug("trying \(destination) again in \(pause)")
        }
        try? await cancelWhenGracefulShutdown { try await sleep(pause) }
    }

    /// Lets the next attempt come sooner, because something has changed about the machine.
    func hurry() { pause.hurry() }

    /// Sleeps until the end of the time, or until somebody hurries; but never shorter than the shortest pause.
    private func sleep(_ time: Duration) async throws {
        let shortest = min(time, Reconnection.firstPause)
        try await Task.sleep(for: shortest)
        await pause.sleep(time - shortest)
    }

    /// Connects, and pairs with the code if there is one and it is needed, also after only the other side has ended an
    /// earlier pairing.
    private func session(_ call: SessionCall, _ wish: SessionWish?) async throws -> SyncReport? {
        guard let typed, !typed.isSpent.load(ordering: .relaxed) else { return try await attempt(call, wish) }
        var call = call
        do {
            call.pairing = typed.pairsAnew ? .again(typed.code) : .ifUnknown(typed.code)
            return try await attempt(call, wish)
        } catch let error as PeerSyncError
            where error.code == .pairingUnavailable && typed.pairsAnew && wish?.adding(to: call).union == nil
        {
            // The two may be paired by now, as where somebody types the code once more. Nobody's records are replaced on a code that is over.
            call.pairing = .no
            do {
                return try await attempt(call, wish)
            } catch let other as PeerSyncError where [.notPaired, .removed].contains(other.code) {
                throw error
            }
        } catch let error as PeerSyncError
            where [.notPaired, .removed].contains(error.code) && !typed.isSpent.load(ordering: .relaxed)
        {
            call.pairing = .again(typed.code)
            return try await attempt(call, wish)
        }
    }

    private func attempt(_ call: SessionCall, _ wish: SessionWish?) async throws -> SyncReport? {
        switch destination {
        case .address(let address, let expected):
            var call = call
            call.expected = expected
            return try await dial(address, call, wish)
        case .announced(let peer, let address): return try await dial(peer, at: address, call, wish)
        case .remembered(let address, let keys):
            // Another machine may answer, which says nothing: nobody has claimed that one of these is there.
            return try await dial(
                address, call, wish, expecting: .oneOf(keys()),
                orElse: PeerSyncError(.unreachable, "another machine answers at \(address)"))
        case .peer(let peer, let typed, let finder):
            let reaching = Reaching(engine: engine, peer: peer, typed: typed, finder: finder)
            return try await reaching.first { try await dial(peer, at: $0, call, wish) }
        case .engine(let other):
            let answer = InProcessAnswer(other)
            let (near, far) = try await answer.connect()
            async let end: Void = answer.serve(far)
            let report = try await run(near, destination.description, call, wish)
            await end
            return report
        }
    }

    private func dial(_ address: PeerAddress, _ call: SessionCall, _ wish: SessionWish?) async throws
        -> SyncReport?
    {
        let turn = try await Turn(of: turns, for: address)
        defer { turn.end() }
        let connection = try await Dialing.connect(to: address, within: engine.deadlines.connecting)
        return try await run(connection, address.description, call, wish, onProof: turn.end)
    }

    /// Hangs up if another machine answers.
    private func dial(
        _ peer: Peer, at address: PeerAddress, _ call: SessionCall, _ wish: SessionWish?
    ) async throws -> SyncReport? {
        guard let key = try? PublicKey(peer.publicKey) else {
            throw PeerSyncError(.damagedRecord, "the key of \(peer.name) in this store is damaged")
        }
        return try await dial(
            address, call, wish, expecting: .holder(of: key),
            orElse: PeerSyncError(
                .otherMachine, "\(peer.name) is said to be at \(address), but another machine answers there"))
    }

    /// - Parameter refusal: what is wrong if another machine answers than the one that is expected.
    private func dial(
        _ address: PeerAddress, _ call: SessionCall, _ wish: SessionWish?,
        expecting expected: ExpectedMachine, orElse refusal: @autoclosure () -> PeerSyncError
    ) async throws -> SyncReport? {
        var call = call
        call.expected = expected
        do {
            return try await dial(address, call, wish)
        } catch let error as PeerSyncError where error.code == .otherMachine {
            throw refusal()
        }
    }

    private func run(
        _ connection: ByteChannel, _ address: String, _ call: SessionCall, _ wish: SessionWish?,
        onProof: @escaping @Sendable () -> Void = {}
    ) async throws -> SyncReport? {
        var call = wish?.adding(to: call) ?? call
        call.sparesOneZone = !isReset
        let session = PeerSession(
            engine, connection, purpose: .call(call), wish: wish, address: address, onProof: onProof)
        defer { if session.update({ $0.hasShownCode }) { typed?.isSpent.store(true, ordering: .relaxed) } }
        return try await withGracefulShutdownHandler {
            try await sessions.run(session) {
                try await withTaskCancellationHandler {
                    try await session.run()
                } onCancel: {
                    session.stop()
                }
            }
        } onGracefulShutdown: {
            session.stop()
        }
    }

    private func watching<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await engine.checkSwitch()
        // The watch may have ended an earlier call, because somebody had switched sync off.
        sessions.begin()
        return try await engine.whileWatching(sessions, stop: sessions.stopAll) {
            guard let finder = destination.finder else { return try await body() }
            return try await engine.withFinder(finder, body)
        }
    }
}
