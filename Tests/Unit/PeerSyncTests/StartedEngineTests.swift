import Foundation
import GRDB
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSync

/// An app starts and stops its engine, and asks it to sync, without a task of its own.
struct StartedEngineTests {
    private struct Machine {
        let engine: SyncEngine
        private let log: Log

        private final class Log: Sendable { let events = Mutex<[SyncEvent]>([]) }

        init(_ name: String, _ database: DatabaseQueue = try! DatabaseQueue(), port: Int = 0) throws {
            try database.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS Item (id TEXT NOT NULL PRIMARY KEY)")
            }
            log = Log()
            engine = try SyncEngine(
                for: database, app: "org.example.todo", tables: ["Item"], displayName: name, port: port,
                discovery: .off, onEvent: { [log] event in log.events.withLock { $0.append(event) } })
            engine.deadlines = .unhurried
        }

        func events<Value: Sendable>(_ pick: (SyncEvent) -> Value?) -> [Value] {
            log.events.withLock { $0.compactMap(pick) }
        }

        /// Waits until the engine has told so many events of a kind, and gives the last of these.
        func event<Value: Sendable>(_ number: Int = 1, _ pick: (SyncEvent) -> Value?) async throws -> Value {
            try await eventually("an event", within: .seconds(300)) {
                let found = events(pick)
                return found.count >= number ? found[number - 1] : nil
            }
        }

        func add(_ id: String) async throws {
            try await engine.store.database.write {
                try $0.execute(sql: "INSERT INTO Item VALUES (?)", arguments: [id])
            }
        }

        func ids() async throws -> [String] {
            try await engine.store.database.read {
                try String.fetchAll($0, sql: "SELECT id FROM Item ORDER BY id")
            }
        }

        func holds(_ ids: [String]) async throws {
            try await eventually("the items", within: .seconds(300)) { try await self.ids() == ids }
        }
    }

    private static func port(_ event: SyncEvent) -> Int? {
        if case .listening(_, let port) = event { port } else { nil }
    }
    private static func connected(_ event: SyncEvent) -> String? {
        if case .connected(let name, _) = event { name } else { nil }
    }
    /// The error that ended a session; nil inside if a goodbye did.
    private static func disconnected(_ event: SyncEvent) -> PeerSyncError.Code?? {
        if case .disconnected(_, let error) = event { .some(error?.code) } else { nil }
    }

    /// Two machines, of which the first was started, and the second one has synced with it once.
    private static func pair() async throws -> (kitchen: Machine, study: Machine) {
        let (kitchen, study) = (try Machine("kitchen"), try Machine("study"))
        try await kitchen.engine.start()
        let port = try await kitchen.event(1, Self.port)
        try await study.engine.pair(
            with: "127.0.0.1:\(port)", code: kitchen.engine.showPairingCode())
        return (kitchen, study)
    }

    /// A connection of a machine to the other one, which nobody can dial back.
    private static func live(_ machine: Machine) async throws -> Task<Void, any Error> {
        let peer = try #require(try await machine.engine.store.peers.all().first)
        return Task { [engine = machine.engine] in try await SyncConnector(engine, to: peer).run() }
    }

    @Test(.timeLimit(.minutes(5))) func anEngineThatIsStartedTwiceRunsOnce() async throws {
        let kitchen = try Machine("kitchen")
        async let first: Void = kitchen.engine.start()
        async let second: Void = kitchen.engine.start()
        _ = try await (first, second)
        _ = try await kitchen.event(1, Self.port)
        try await kitchen.engine.start()
        await kitchen.engine.stop()
        #expect(kitchen.engine.listeningPort == nil)
        #expect(kitchen.events(Self.port).count == 1)
        // Stopped twice, it has stopped; and it can be started again.
        await kitchen.engine.stop()
        try await kitchen.engine.start()
        _ = try await kitchen.event(2, Self.port)
        await kitchen.engine.stop()
        #expect(kitchen.engine.listeningPort == nil)
    }

    /// As when somebody taps a switch off, on and off again.
    @Test(.timeLimit(.minutes(5))) func ofCallsAtOnceTheLastOneCounts() async throws {
        let kitchen = try Machine("kitchen")
        for _ in 0..<20 {
            try await kitchen.engine.start()
            let first = Task { await kitchen.engine.stop() }
            let second = Task { try await kitchen.engine.start() }
            await kitchen.engine.stop()
            await first.value
            try await second.value
            await kitchen.engine.stop()
            #expect(kitchen.engine.listeningPort == nil)
        }
    }

    /// Two listeners of one engine would both want its port.
    @Test(.timeLimit(.minutes(5))) func anEngineThatRunsIsNotStarted() async throws {
        let kitchen = try Machine("kitchen")
        let running = Task { try await kitchen.engine.run() }
        _ = try await kitchen.event(1, Self.port)
        let started = await #expect(throws: PeerSyncError.self) { try await kitchen.engine.start() }
        let run = await #expect(throws: PeerSyncError.self) { try await kitchen.engine.run() }
        #expect(started?.code == .cannotListen && run?.code == .cannotListen)
        // That of the app is not the business of stop().
        await kitchen.engine.stop()
        #expect(kitchen.engine.listeningPort != nil)
        running.cancel()
        _ = await running.result
        try await kitchen.engine.start()
        _ = try await kitchen.event(2, Self.port)
        await #expect(throws: PeerSyncError.self) { try await kitchen.engine.run() }
        await kitchen.engine.stop()
        #expect(kitchen.events(Self.port).count == 2)
    }

    @Test func aPortThatIsNoneIsToldAtTheStart() async throws {
        let kitchen = try Machine("kitchen", port: 99_999)
        let error = await #expect(throws: PeerSyncError.self) { try await kitchen.engine.start() }
        #expect(error?.code == .cannotListen)
    }

    @Test(.timeLimit(.minutes(5))) func whoStopsSaysGoodbyeAndLosesNothing() async throws {
        let (kitchen, study) = try await Self.pair()
        let live = try await Self.live(study)
        // A goodbye before the exchange would be an interruption.
        _ = try await study.event(2) { if case .inSync(let name, _, _, _) = $0 { name } else { nil } }
        await kitchen.engine.stop()
        let peer = try #require(try await kitchen.engine.store.peers.all().first)
        #expect(!kitchen.engine.connections.hasAny(with: peer.id) && kitchen.engine.listeningPort == nil)
        // The first session was that of the pairing.
        let error = try await study.event(2, Self.disconnected)
        #expect(error == nil)
        live.cancel()
        _ = await live.result
        try await kitchen.add("a")
        try await study.add("b")
        try await kitchen.engine.start()
        let port = try await kitchen.event(2, Self.port)
        let results = try await Self.results(of: study, with: kitchen, at: port)
        #expect(results == ["kitchen": "in sync"])
        try await study.holds(["a", "b"])
        try await kitchen.holds(["a", "b"])
        await kitchen.engine.stop()
    }

    /// The system gives another port each time.
    private static func results(of machine: Machine, with other: Machine, at port: Int) async throws
        -> [String: String]
    {
        let peer = try #require(try await machine.engine.store.peers.all().first)
        try await machine.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
        return try await results(of: machine)
    }

    private static func results(of machine: Machine) async throws -> [String: String] {
        try await machine.engine.syncNow().mapValues { result in
            switch result {
            case .success(let report): report.peer == "" ? "nobody" : "in sync"
            case .failure(let error): error.code.description
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func whatIsWrittenDuringAPauseGoesAfterIt() async throws {
        let (kitchen, study) = try await Self.pair()
        try await kitchen.engine.pause()
        // The started engine takes nobody meanwhile, and has not ended.
        try await eventually("the end", within: .seconds(300)) { kitchen.engine.listeningPort == nil }
        try await kitchen.add("a")
        #expect(try await Self.results(of: study) == ["kitchen": "unreachable"])
        for _ in 0..<2 {
            let error = await #expect(throws: PeerSyncError.self) { try await kitchen.engine.syncNow() }
            #expect(error?.code == .switchedOff)
            try await kitchen.engine.start()
        }
        #expect(
            try await kitchen.engine.store.database.read { try !kitchen.engine.store.status($0).isSyncOn })
        try await kitchen.engine.resume()
        let port = try await kitchen.event(2, Self.port)
        #expect(try await Self.results(of: study, with: kitchen, at: port) == ["kitchen": "in sync"])
        #expect(try await study.ids() == ["a"])
        await kitchen.engine.stop()
    }

    @Test(.timeLimit(.minutes(5))) func anEngineThatIsPausedCanBeStartedAndStopped() async throws {
        let kitchen = try Machine("kitchen")
        try await kitchen.engine.pause()
        try await kitchen.engine.start()
        await kitchen.engine.stop()
        #expect(kitchen.events(Self.port).isEmpty)
        try await kitchen.engine.start()
        try await kitchen.engine.resume()
        _ = try await kitchen.event(1, Self.port)
        await kitchen.engine.stop()
    }

    /// Nobody can say whether sync is switched on, so the engine only waits, and tells so.
    @Test(.timeLimit(.minutes(5))) func anEngineThatCannotReadItsStoreCanBeStopped() async throws {
        let kitchen = try Machine("kitchen")
        try await Self.hideSettings(of: kitchen)
        try await kitchen.engine.start()
        _ = try await kitchen.event { if case .storeTrouble = $0 { true } else { nil } }
        await kitchen.engine.stop()
        #expect(kitchen.events(Self.port).isEmpty)
    }

    private static func hideSettings(of machine: Machine) async throws {
        try await machine.engine.store.database.write {
            try $0.execute(sql: "ALTER TABLE grdb_sync_syncState RENAME TO gone")
        }
    }

    @Test(.timeLimit(.minutes(5))) func syncNowReportsOfEachMachine() async throws {
        let (kitchen, study) = try await Self.pair()
        try await kitchen.add("a")
        #expect(try await Self.results(of: study) == ["kitchen": "in sync"])
        #expect(try await study.ids() == ["a"])
        // Over the connection that is there.
        let live = try await Self.live(study)
        _ = try await study.event(3, Self.connected)
        for number in 0..<20 {
            try await study.add("b\(number)")
            let digests = try await study.engine.syncNow().mapValues { try $0.get().digest }
            let (own, waits) = try await study.engine.store.database.read { db in
                let status = try study.engine.store.status(db)
                return (
                    status.zones.first?.digest,
                    try study.engine.store.listing.isPending(db, ["b\(number)"], of: "Item")
                )
            }
            #expect(digests == ["kitchen": own] && !waits)
            #expect(try await kitchen.ids().contains("b\(number)"))
        }
        #expect(study.events(Self.connected).count == 3)
        live.cancel()
        _ = await live.result
        await kitchen.engine.stop()
        #expect(try await Self.results(of: study) == ["kitchen": "unreachable"])
    }

    /// An app that syncs when its rows change would go on for ever.
    @Test(.timeLimit(.minutes(5))) func whoObservesHearsOfNoSyncThatBringsNothing() async throws {
        try await withTemporaryDirectory { folder in
            let kitchen = try Machine("kitchen")
            var configuration = Configuration()
            configuration.journalMode = .wal
            let path = folder.appendingPathComponent("todo.sqlite").path
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let study = try Machine("study", database)
            try await kitchen.engine.start()
            let port = try await kitchen.event(1, Self.port)
            try await study.engine.pair(
                with: "127.0.0.1:\(port)", code: kitchen.engine.showPairingCode())
            let told = Mutex(0)
            let observation = DatabaseRegionObservation(tracking: Table("Item")).start(
                in: database, onError: { _ in }, onChange: { _ in told.withLock { $0 += 1 } })
            defer { observation.cancel() }
            for _ in 0..<10 { #expect(try await Self.results(of: study) == ["kitchen": "in sync"]) }
            // The first look of an engine tells those who have observed for longer.
            #expect(told.withLock { $0 } <= 1)
            await kitchen.engine.stop()
        }
    }

    /// A program that goes on writes to a file that nobody finds again. It may not even have begun.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func anEngineWhoseFilesAreGoneTellsThatItHasEnded(hasBegun: Bool) async throws {
        try await withTemporaryDirectory { folder in
            let file = folder.appendingPathComponent("todo.sqlite")
            var configuration = Configuration()
            configuration.journalMode = .wal
            let kitchen = try Machine("kitchen", DatabaseQueue(path: file.path, configuration: configuration))
            if !hasBegun { try await Self.hideSettings(of: kitchen) }
            try await kitchen.engine.start()
            if hasBegun {
                _ = try await kitchen.event(1, Self.port)
            } else {
                _ = try await kitchen.event { if case .storeTrouble = $0 { true } else { nil } }
            }
            try FileManager.default.removeItem(at: file)
            let error = try await kitchen.event { event in
                if case .syncEnded(let error) = event { error } else { nil }
            }
            #expect(error.code == .storeUnusable)
            try await eventually("the end", within: .seconds(300)) { kitchen.engine.listeningPort == nil }
            await kitchen.engine.stop()
        }
    }
}
