import Dispatch
import GRDB
import NIOCore
import NIOPosix
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Synchronization
import TestSupport

@testable import PeerSync
@testable import PeerSyncProtocol

/// A machine of the test's own process, with a store in memory.
struct LoopbackMachine {
    let engine: SyncEngine
    private let log = EventLog()

    /// - Parameters:
    ///   - database: where the store is; in memory if none is given.
    ///   - discovery: where it finds others; nobody looks for it, or is found, if none is given.
    ///   - decide: what the user says when asked.
    init(
        _ name: String, _ database: DatabaseQueue? = nil, app: AppID = .scorebook,
        discovery: DiscoveryOptions = .off, now: (@Sendable () -> Int64)? = nil,
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody }
    ) throws {
        let identity = Identity.generate()
        let scorebook = try ScorebookStore(
            database ?? DatabaseQueue(), replica: identity.replicaID, now: now)
        engine = SyncEngine(
            app: app, store: scorebook.records, identity: identity, displayName: name, discovery: discovery,
            onEvent: { [log] event in log.add(event) }, decide: decide)
        engine.deadlines = .unhurried
    }

    /// What happened so far.
    var events: [SyncEvent] { log.events.withLock { $0 } }

    /// Waits until something of a kind has happened.
    ///
    /// - Parameter start: how much that happened before is left out.
    func event<Value>(after start: Int = 0, _ pick: (SyncEvent) -> Value?) async throws -> Value {
        try await eventually("an event", within: .seconds(300)) {
            events.dropFirst(start).lazy.compactMap(pick).first
        }
    }

    /// Listens on a port of this computer while `body` runs; on a free one if none is given.
    func listening(
        on port: Int = 0, dialsKnownPeers: Bool = false, _ body: (Int) async throws -> Void
    ) async throws {
        let before = events.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await SyncListener(
                    engine, host: "127.0.0.1", port: port, dialsKnownPeers: dialsKnownPeers
                ).run()
            }
            let port = try await event(after: before) {
                if case .listening(_, let port) = $0 { port } else { nil }
            }
            try await body(port)
            group.cancelAll()
        }
    }

    /// Connects to a port of this computer, and syncs as it is told.
    ///
    /// - Parameters:
    ///   - address: where the connection comes from.
    ///   - prepare: is called with the session before that runs.
    func call(
        _ port: Int, from address: String = "127.0.0.1", _ call: SessionCall,
        _ prepare: (PeerSession) -> Void = { _ in }
    ) async throws {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // What the system holds must not hide that the other side does not read.
            .channelOption(.socketOption(.so_sndbuf), value: 65_536)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
            }
        let session = PeerSession(
            engine, connection, purpose: .call(call), address: "127.0.0.1:\(port)")
        prepare(session)
        _ = try await session.run()
    }

    /// Adds games that each take more than what the system holds between two sockets, even if it lets that grow: some 4 MiB.
    func addLongGames(_ count: Int) async throws {
        for number in 0..<count {
            try await engine.store.write { db in
                try db.execute(
                    sql: "INSERT INTO SBGame (recordName, name) VALUES (?, ?)",
                    arguments: ["SBGame|~|\(number)", String(repeating: "x", count: 8_000_000)])
            }
        }
    }

    /// Waits until so many records have come, whether they are applied or not.
    func receives(_ count: Int) async throws {
        _ = try await event { event in
            guard case .progress(_, let statistics) = event else { return nil as Bool? }
            return statistics.recordsReceived >= count ? true : nil
        }
    }

    /// Keeps all others from the store while `body` runs.
    func whileStoreIsBusy(_ body: () async throws -> Void) async throws {
        let (occupied, isOccupied) = AsyncStream.makeStream(of: Void.self)
        let isFree = DispatchSemaphore(value: 0)
        let database = engine.store.database
        let transaction = Task {
            try await database.write { _ in
                isOccupied.finish()
                isFree.wait()
            }
        }
        for await _ in occupied {}
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        isFree.signal()
        try await transaction.value
        try result.get()
    }

    private final class EventLog: Sendable {
        let events = Mutex<[SyncEvent]>([])

        func add(_ event: SyncEvent) { events.withLock { $0.append(event) } }
    }
}

extension Deadlines {
    /// For tests that are about something else. Both sides wait for the same processors as all other tests, not for each
    /// other.
    static let unhurried = Deadlines(
        connecting: .seconds(300), handshake: .seconds(300), greeting: .seconds(300), silence: .seconds(300),
        farewell: .seconds(30))
}
