import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Takes connections of peers, and keeps each in live sync until either side ends it.
///
/// A port that cannot be listened on makes ``run()`` throw; a peer that misbehaves ends its own session only.
public struct SyncListener: Service {
    /// How many connections may be open that have not proved to be paired.
    static let unauthenticatedLimit = 64
    /// How many of these may come from one address.
    static let unauthenticatedLimitPerAddress = 16

    private let engine: SyncEngine
    private let host: String
    private let port: Int
    private let dials: [PeerAddress]
    private let dialsKnownPeers: Bool
    private let unauthenticated = Counter()
    var deadlines = Deadlines()

    /// - Parameters:
    ///   - host: the address to listen on; `0.0.0.0` and `::` mean every one.
    ///   - port: 0 picks a free one; the event `listening` tells which.
    ///   - dials: machines to connect to meanwhile, and to stay connected with.
    ///   - dialsKnownPeers: also connects to the paired machines that this one has reached before, where they were
    ///     then; when they are not there, nothing is said.
    public init(
        _ engine: SyncEngine, host: String = "0.0.0.0", port: Int = SyncEngine.defaultPort,
        dialing dials: [PeerAddress] = [], dialsKnownPeers: Bool = false
    ) {
        self.engine = engine
        self.host = host
        self.port = port
        self.dials = dials
        self.dialsKnownPeers = dialsKnownPeers
    }

    /// Listens until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``PeerSyncError`` (`cannotListen`).
    public func run() async throws {
        try await engine.checkSwitch()
        let server = try await bind()
        let sessions = SessionSet()
        let known = dialsKnownPeers ? try await knownAddresses() : []
        if let address = server.channel.localAddress {
            engine.onEvent(.listening(host: address.ipAddress ?? host, port: address.port ?? port))
        }
        try await withGracefulShutdownHandler {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    do {
                        try await engine.watchStore()
                    } catch {
                        server.channel.close(promise: nil)
                        sessions.stopAll()
                        // The other machines are told why.
                        try? await sessions.waitUntilEmpty()
                        throw error
                    }
                }
                for (addresses, persistence) in [
                    (dials, Reconnection.Persistence.always), (known, .quietly),
                ] {
                    for address in addresses {
                        var connector = SyncConnector(engine, to: address, sessions: sessions)
                        connector.deadlines = deadlines
                        group.addTask { try await connector.stayConnected(persistence) }
                    }
                }
                do {
                    try await server.executeThenClose { connections in
                        for try await connection in connections {
                            group.addTask { await serve(connection, sessions) }
                        }
                    }
                } catch {
                    // Being told to end closes the socket, which is no error.
                    if !Task.isShuttingDownGracefully, !Task.isCancelled {
                        throw PeerSyncError(
                            .cannotListen,
                            "no more connections can be taken: \(ConnectionFailure.reason(error))")
                    }
                }
                try await sessions.waitUntilEmpty()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            server.channel.close(promise: nil)
            sessions.stopAll()
        }
    }

    /// Where the paired machines were reached, apart from those that are dialled anyway.
    private func knownAddresses() async throws -> [PeerAddress] {
        let addresses = try await engine.store.peers().compactMap { $0.address.flatMap(PeerAddress.init) }
        return Set(addresses).subtracting(dials).sorted { $0.description < $1.description }
    }

    private func bind() async throws -> NIOAsyncChannel<ByteChannel, Never> {
        do {
            return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 256)
                .bind(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try SocketOptions.wrap(channel)
                    }
                }
        } catch {
            throw PeerSyncError(
                .cannotListen, "cannot listen on \(host) port \(port): \(ConnectionFailure.reason(error))")
        }
    }

    private func serve(_ connection: ByteChannel, _ sessions: SessionSet) async {
        let address = connection.channel.remoteAddress?.ipAddress ?? "a machine"
        let network = NetworkAddress(address)
        guard unauthenticated.increment(network) else {
            try? await connection.channel.close()
            return
        }
        let release = unauthenticated.decrementOnce(network)
        let session = PeerSession(
            engine, connection, purpose: .answer, address: address, deadlines: deadlines,
            onAuthenticated: { release() })
        await sessions.run(session) {
            do {
                _ = try await session.run()
            } catch is CancellationError {
                return
            } catch {
                engine.logger.debug("a session with \(address) ended: \(error)")
                if !release.wasCalled { engine.onEvent(.refused(address: address, reason: "\(error)")) }
            }
        }
        release()
    }
}

/// Counts connections, over all and by address, up to a limit of each.
private final class Counter: Sendable {
    private let counts = Mutex<[NetworkAddress: Int]>([:])

    /// - Returns: false, without counting, when a limit is reached.
    func increment(_ address: NetworkAddress) -> Bool {
        counts.withLock { counts in
            guard counts.values.reduce(0, +) < SyncListener.unauthenticatedLimit,
                counts[address, default: 0] < SyncListener.unauthenticatedLimitPerAddress
            else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    /// Something that counts down once, however often it is called.
    func decrementOnce(_ address: NetworkAddress) -> Release { Release(self, address) }

    final class Release: Sendable {
        private let counter: Counter
        private let address: NetworkAddress
        private let called = Mutex(false)

        init(_ counter: Counter, _ address: NetworkAddress) {
            self.counter = counter
            self.address = address
        }

        var wasCalled: Bool { called.withLock { $0 } }

        func callAsFunction() {
            let isFirst = called.withLock { called in
                defer { called = true }
                return !called
            }
            guard isFirst else { return }
            counter.counts.withLock { counts in
                let left = counts[address, default: 1] - 1
                counts[address] = left > 0 ? left : nil
            }
        }
    }
}

/// The sessions that are running, so that all can be told to end.
final class SessionSet: Sendable {
    private struct State {
        var sessions: [ObjectIdentifier: PeerSession] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Runs `body` while the session is in the set.
    func run<Value>(_ session: PeerSession, _ body: () async throws -> Value) async rethrows -> Value {
        let isStopping = state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = session
            return state.isStopping
        }
        if isStopping { session.stop() }
        defer { state.withLock { _ = $0.sessions.removeValue(forKey: ObjectIdentifier(session)) } }
        return try await body()
    }

    /// Ends all sessions, and those that begin from now on.
    func stopAll() {
        let sessions = state.withLock { state in
            state.isStopping = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.stop() }
    }

    /// Waits for the sessions to end; each ends by itself soon after ``stopAll()``.
    func waitUntilEmpty() async throws {
        while state.withLock({ !$0.sessions.isEmpty }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
