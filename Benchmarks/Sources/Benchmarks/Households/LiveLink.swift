import Foundation
import PeerSync
import PeerSyncChannel
import Synchronization

/// A scorebook that listens in this process, on a free port of loopback.
final class ListeningHousehold: Sendable {
    let household: Household
    let port: Int
    private let engine: SyncEngine
    private let task: Task<Void, any Error>

    init(_ household: Household, name: String) async throws {
        self.household = household
        let (ports, found) = AsyncStream<Int>.makeStream()
        let engine = SyncEngine(
            app: .scorebook, store: household.scorebook.records, identity: household.identity,
            displayName: name, discovery: .off
        ) { event in
            if case .listening(_, let port) = event { found.yield(port) }
        }
        self.engine = engine
        task = Task { try await SyncListener(engine, host: "127.0.0.1", port: 0).run() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        self.port = port
    }

    var address: PeerAddress { PeerAddress(host: "127.0.0.1", port: port) }

    /// A code that pairs one machine.
    func code() async throws -> PairingCode { try await engine.pairing.show() }

    func end() { task.cancel() }
}

/// Two scorebooks that are paired and in live sync over loopback, both in this process.
final class LiveLink: Sendable {
    private let server: ListeningHousehold
    private let bytesPassed: BytesPassed
    private let task: Task<Void, any Error>

    private final class BytesPassed: Sendable {
        let count = Mutex(0)
    }

    init(from server: ListeningHousehold, to client: Household) async throws {
        self.server = server
        let bytesPassed = BytesPassed()
        let (syncs, synced) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let engine = SyncEngine(
            app: .scorebook, store: client.scorebook.records, identity: client.identity,
            displayName: "client",
            discovery: .off
        ) { event in
            guard case .inSync(_, _, _, let statistics) = event else { return }
            bytesPassed.count.withLock { $0 = statistics.bytesSent + statistics.bytesReceived }
            synced.yield()
        }
        self.bytesPassed = bytesPassed
        let connector = SyncConnector(engine, to: server.address, code: try await server.code())
        task = Task { try await connector.run() }
        for await _ in syncs { break }
    }

    /// How many bytes had passed, both ways, when the two were last found equal.
    var bytes: Int { bytesPassed.count.withLock { $0 } }

    func end() {
        task.cancel()
        server.end()
    }
}
