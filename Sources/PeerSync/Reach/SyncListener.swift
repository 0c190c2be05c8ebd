import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A service that takes connections of peers, and keeps each in live sync until either side ends it.
///
/// When it cannot listen on the port, ``run()`` throws, unless ``neverGivesUp`` is set. A peer that misbehaves ends only
/// its own session.
public struct SyncListener: Service {
    private let engine: SyncEngine
    private let host: String
    private let port: Int
    private let dials: [PeerAddress]
    private let dialsKnownPeers: Bool
    /// Whether ``run()`` goes on without the port when another program has it: it connects to other machines, and tries the
    /// port again after growing pauses, as the event `retrying` tells. An app that syncs in the background wants that. Who
    /// types a port wants to hear that it is taken.
    public var neverGivesUp = false
    /// Whether ``run()`` goes on when sync is switched off here: it ends all sessions, and listens again when sync is on.
    public var waitsWhileSwitchedOff = false

    /// Creates a listener, which takes no connection before ``run()``.
    ///
    /// - Parameters:
    ///   - engine: the engine of this machine.
    ///   - host: the address to listen on; by default the engine's, see ``SyncEngine/host``.
    ///   - port: by default the engine's; 0 picks a free port, which ``SyncEngine/listeningPort`` and the
    ///     event `listening` name.
    ///   - dials: machines to connect to meanwhile, and to stay connected with.
    ///   - dialsKnownPeers: whether to connect to paired machines, too, at the addresses where this one has reached
    ///     them before; also to those that are paired later. The listener says nothing when they are not there.
    public init(
        _ engine: SyncEngine, host: String? = nil, port: Int? = nil,
        dialing dials: [PeerAddress] = [], dialsKnownPeers: Bool = false
    ) {
        self.engine = engine
        self.host = host ?? engine.host
        self.port = port ?? engine.port
        self.dials = dials
        self.dialsKnownPeers = dialsKnownPeers
    }

    /// Listens until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``PeerSyncError``: `cannotListen` unless ``neverGivesUp`` is set, or if the port is none; `switchedOff` unless
    ///   ``waitsWhileSwitchedOff`` is set; `storeUnusable`.
    public func run() async throws {
        try checkPort()
        while true {
            do {
                return try await listen()
            } catch let error as PeerSyncError where error.code == .switchedOff && waitsWhileSwitchedOff {
                try await cancelWhenGracefulShutdown { try await engine.waitUntilSwitchedOn() }
                if Task.isShuttingDownGracefully { return }
                try Task.checkCancellation()
            }
        }
    }

    func checkPort() throws(PeerSyncError) {
        // The system would take the lower 16 bits, and listen on another port.
        guard (0...65_535).contains(port) else {
            throw PeerSyncError(
                .cannotListen, "cannot listen on \(host) port \(port): a port is a number from 0 to 65535")
        }
    }

    private func listen() async throws {
        if neverGivesUp {
            do {
                try await cancelWhenGracefulShutdown { try await engine.checkSwitchPatiently() }
            } catch is CancellationError where Task.isShuttingDownGracefully {
                return
            }
        } else {
            try await engine.checkSwitch()
        }
        let strangers = Strangers()
        // Also closes connections that came during the end, and that no session serves.
        defer { strangers.close() }
        let socket = ListeningSocket()
        let membership = engine.sockets.add(socket)
        defer { membership.end() }
        let server = neverGivesUp ? nil : try await bind(strangers, socket, port)
        let sessions = SessionSet()
        let stop: @Sendable () -> Void = {
            // Whoever takes connections asks the sessions why the socket is closed.
            sessions.stopAll()
            socket.close()
        }
        try await withGracefulShutdownHandler {
            try await engine.whileWatching(sessions, stop: stop) {
                try await serve(server, strangers, socket, sessions)
            }
        } onGracefulShutdown: {
            stop()
        }
    }

    /// Takes connections, and dials, until the socket is closed and all sessions have ended.
    ///
    /// - Parameter server: nil if there is none yet.
    private func serve(
        _ server: Server?, _ strangers: Strangers, _ socket: ListeningSocket, _ sessions: SessionSet
    ) async throws {
        let refusals = Refusals(onEvent: engine.onEvent)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await refusals.run() }
            for address in dials {
                let connector = SyncConnector(engine, to: address, sessions: sessions)
                group.addTask { try await connector.stayConnected(.always) }
            }
            if dialsKnownPeers {
                let known = KnownPeers(engine, sessions: sessions, except: dials)
                group.addTask { try await known.run() }
            }
            let (bound, isBound) = AsyncStream.makeStream(
                of: SocketAddress.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask { await Presence(engine: engine).run(bound) }
            var server = server
            // The port that the system chose stays, because others have heard of it.
            var port = port
            var attempts = Reconnection(.always)
            repeat {
                do {
                    if server == nil { server = try await bind(strangers, socket, port) }
                    attempts = Reconnection(.always)
                    if let address = server?.address {
                        port = address.port ?? port
                        isBound.yield(address)
                    }
                    try await server?.connections.executeThenClose { connections in
                        for try await stranger in connections {
                            group.addTask { await serve(stranger, sessions, refusals) }
                        }
                    }
                    throw Self.noMoreConnections("the system has closed the port")
                } catch {
                    // stop() closes the socket, which is no error.
                    if sessions.isStopping || Task.isCancelled { break }
                    let failure =
                        error as? PeerSyncError ?? Self.noMoreConnections(ConnectionFailure.reason(error))
                    guard neverGivesUp else { throw failure }
                    server = nil
                    guard await wait(after: failure, &attempts, socket, port) else { break }
                }
            } while true
            await sessions.waitUntilEmpty()
            group.cancelAll()
        }
    }

    private static func noMoreConnections(_ reason: String) -> PeerSyncError {
        PeerSyncError(.cannotListen, "no more connections can be taken: \(reason)")
    }

    /// Pauses before the next attempt to listen.
    ///
    /// - Returns: false when the listener has to end.
    private func wait(
        after failure: PeerSyncError, _ attempts: inout Reconnection, _ socket: ListeningSocket, _ port: Int
    ) async -> Bool {
        guard
            case .tryAgain(let pause, let reason) =
                attempts.ended(with: failure, wasInSync: false, after: .zero)
        else { return false }
        if let reason {
            engine.onEvent(
                .retrying(address: "\(host) port \(port)", seconds: pause / .seconds(1), reason))
        }
        return await socket.wait(pause)
    }

    /// A socket that takes connections.
    private struct Server {
        let connections: NIOAsyncChannel<Strangers.Stranger, Never>
        /// Its address, which a channel does not tell any more once it is closed.
        let address: SocketAddress?
    }

    /// - Returns: nil when the listener has to end.
    /// - Throws: ``PeerSyncError`` `cannotListen`.
    private func bind(_ strangers: Strangers, _ socket: ListeningSocket, _ port: Int) async throws -> Server?
    {
        let connections = try await bind(strangers, port)
        let server = Server(connections: connections, address: connections.channel.localAddress)
        guard socket.open(connections.channel) else {
            try? await connections.executeThenClose { _ in }
            return nil
        }
        if let address = server.address {
            engine.onEvent(.listening(host: address.ipAddress ?? host, port: address.port ?? port))
        }
        return server
    }

    private func bind(
        _ strangers: Strangers, _ port: Int
    ) async throws -> NIOAsyncChannel<Strangers.Stranger, Never> {
        do {
            return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(LostConnections())
                    }
                }
                .childChannelOption(.autoRead, value: false)
                .bind(host: host, port: port) { channel in
                    channel.eventLoop.makeSucceededFuture(strangers.enter(channel))
                }
        } catch {
            throw PeerSyncError(
                .cannotListen, "cannot listen on \(host) port \(port): \(ConnectionFailure.reason(error))")
        }
    }

    private func serve(
        _ stranger: Strangers.Stranger, _ sessions: SessionSet, _ refusals: Refusals
    ) async {
        defer { stranger.leave() }
        let address = stranger.address
        do {
            let session = PeerSession(
                engine, try await stranger.connection(), purpose: .answer, address: address,
                onAuthenticated: { stranger.leave() })
            try await sessions.run(session) { _ = try await session.run() }
        } catch is CancellationError {
            return
        } catch {
            engine.logger.debug("a session with \(address) ended: \(error)")
            switch stranger.state {
            case .known: break
            case .unknown: refusals.add(address, because: PeerSyncError(store: error))
            case .removed:
                refusals.add(
                    address,
                    because: PeerSyncError(
                        .interrupted, "it had not shown to be paired when too many others came"))
            }
        }
    }
}

/// Overhears the error of a connection that its other side ended before it was taken. On macOS anybody can make one, and the
/// listener would end with it.
private final class LostConnections: ChannelInboundHandler {
    typealias InboundIn = any Channel

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !(error is NIOFcntlFailedError) { context.fireErrorCaught(error) }
    }
}
