import Logging
import PeerSyncChannel
import PeerSyncProtocol
import ServiceLifecycle
import Synchronization

/// The end of a connection that a connector makes.
private enum Destination: Sendable, CustomStringConvertible {
    case address(PeerAddress)
    case engine(SyncEngine)

    var description: String {
        switch self {
        case .address(let address): address.description
        case .engine: InProcessAnswer.address
        }
    }
}

/// A service that connects to one machine and stays in live sync with it: when the connection ends, it makes it again.
public struct SyncConnector: Service {
    private let engine: SyncEngine
    private let destination: Destination
    private let code: PairingCode?
    private let wish: SessionWish
    /// The set that the sessions of this connector join.
    private let sessions: SessionSet
    /// Whether ``run()`` tries again whatever happens, also when the machine is not there at first. An app that syncs in
    /// the background wants that. Who types an address wants to hear that it is wrong.
    public var neverGivesUp = false

    /// Creates a connector to a machine that listens somewhere.
    ///
    /// - Parameters:
    ///   - engine: the engine of this machine.
    ///   - address: where the other machine listens.
    ///   - code: pairs with the machine if it is not paired yet.
    ///   - startsOver: for a machine that was away too long: the first session forgets what the other machine has
    ///     acknowledged, keeps what was changed here since then, and takes over what the other machine holds.
    ///   - union: what becomes of the two default zones, if that has to be decided; nil asks the engine's `decide`.
    ///     ``/PeerSyncProtocol/ZoneUnion/replaceCaller`` and ``/PeerSyncProtocol/ZoneUnion/replaceListener`` apply even when both are the same zone.
    public init(
        _ engine: SyncEngine, to address: PeerAddress, code: PairingCode? = nil, startsOver: Bool = false,
        union: ZoneUnion? = nil
    ) {
        wish = SessionWish(startsOver: startsOver, union: union)
        self.engine = engine
        destination = .address(address)
        self.code = code
        sessions = SessionSet()
    }

    /// Creates a connector to another engine of this process, which need not listen: for the tests of an app. Everything
    /// but the network is as between two machines.
    ///
    /// ```swift
    /// let connector = SyncConnector(study, to: kitchen, code: await kitchen.pairing.show())
    /// try await connector.syncOnce()
    /// ```
    ///
    /// - Parameters:
    ///   - engine: the engine that connects.
    ///   - other: the engine that answers.
    ///   - code: pairs with the other engine if it is not paired yet.
    public init(_ engine: SyncEngine, to other: SyncEngine, code: PairingCode? = nil) {
        wish = SessionWish()
        self.engine = engine
        destination = .engine(other)
        self.code = code
        sessions = SessionSet()
    }

    /// Creates a connector of a listener, which waits for all sessions before it ends.
    init(_ engine: SyncEngine, to address: PeerAddress, sessions: SessionSet) {
        self.engine = engine
        destination = .address(address)
        code = nil
        wish = SessionWish()
        self.sessions = sessions
    }

    /// Connects once, syncs until both sides hold the same records, and ends.
    ///
    /// - Throws: ``PeerSyncError``.
    @discardableResult
    public func syncOnce() async throws -> SyncReport {
        try await once(SessionCall(isOnce: true), wish, orElse: "everything was exchanged")
    }

    /// Connects once, checks every record of the two machines, mends what is wrong or differs, and ends.
    ///
    /// - Throws: ``PeerSyncError``.
    public func verify() async throws -> SyncReport {
        try await once(
            SessionCall(isOnce: true, comparesEverything: true), nil, orElse: "everything was compared")
    }

    private func once(_ call: SessionCall, _ wish: SessionWish?, orElse aim: String) async throws
        -> SyncReport
    {
        try await watching {
            guard let report = try await session(call, wish) else {
                throw PeerSyncError(.interrupted, "\(destination) ended the connection before \(aim)")
            }
            return report
        }
    }

    /// Stays connected until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``PeerSyncError``: `switchedOff`; `storeUnusable` when a file of the store was removed or replaced;
    ///   unless ``neverGivesUp`` is set, also when the first attempt fails, or when a later one fails with an error that
    ///   another attempt does not mend.
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
        // The pause ends early only when the connector has to end.
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
    }

    /// Connects, and pairs with the code if there is one and it is needed, also after only the other side has ended an
    /// earlier pairing.
    private func session(_ call: SessionCall, _ wish: SessionWish?) async throws -> SyncReport? {
        guard let code else { return try await attempt(call, wish) }
        var call = call
        do {
            call.pairing = .ifUnknown(code)
            return try await attempt(call, wish)
        } catch let error as PeerSyncError where error.code == .notPaired {
            call.pairing = .again(code)
            return try await attempt(call, wish)
        }
    }

    private func attempt(_ call: SessionCall, _ wish: SessionWish?) async throws -> SyncReport? {
        switch destination {
        case .address(let address):
            let connection = try await Dialing.connect(to: address, within: engine.deadlines.connecting)
            return try await run(connection, call, wish)
        case .engine(let other):
            let answer = InProcessAnswer(other)
            let (near, far) = try await answer.connect()
            async let end: Void = answer.serve(far)
            let report = try await run(near, call, wish)
            await end
            return report
        }
    }

    private func run(_ connection: ByteChannel, _ call: SessionCall, _ wish: SessionWish?) async throws
        -> SyncReport?
    {
        let session = PeerSession(
            engine, connection, purpose: .call(wish?.adding(to: call) ?? call), wish: wish,
            address: destination.description)
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
        return try await engine.whileWatching(sessions, stop: sessions.stopAll, body)
    }
}
