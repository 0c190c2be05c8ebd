import Foundation
import GRDB
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSync

/// An app hands over its database and names its tables, and that is all.
struct AppEngineTests {
    private static let sql = """
        CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT);
        CREATE TABLE ItemTag (
            item TEXT NOT NULL REFERENCES Item ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (item, tag));
        """

    private static func engine(
        _ name: String, _ database: DatabaseQueue = try! DatabaseQueue(), port: Int = 0
    ) throws -> (SyncEngine, DatabaseQueue) {
        try database.write { db in
            if try !db.tableExists("Item") { try db.execute(sql: sql) }
        }
        let engine = try SyncEngine(
            for: database, app: "org.example.todo", tables: ["Item", "ItemTag"], displayName: name,
            port: port,
            discovery: .off)
        engine.deadlines = .unhurried
        return (engine, database)
    }

    /// Otherwise the engine would listen on the port 34463.
    @Test(.timeLimit(.minutes(5)), arguments: [-1, 99_999])
    func aPortThatIsNoneIsRefused(port: Int) async throws {
        let (engine, _) = try Self.engine("kitchen", port: port)
        let error = await #expect(throws: PeerSyncError.self) { try await engine.run() }
        #expect(error?.code == .cannotListen)
        #expect(error?.message.hasSuffix("a port is a number from 0 to 65535") == true)
    }

    @Test(.timeLimit(.minutes(5))) func twoAppsPairAndStayInStep() async throws {
        let (kitchen, first) = try Self.engine("kitchen")
        let (study, second) = try Self.engine("study")
        try await first.write { db in
            try db.execute(
                sql: "INSERT INTO Item VALUES ('1', 'Cream'); INSERT INTO ItemTag VALUES ('1', 'cold')")
        }
        let events = kitchen.events
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                try await kitchen.run()
                return nil
            }
            group.addTask {
                await events.compactMap { if case .listening(_, let port) = $0 { port } else { nil } }
                    .first { _ in true }
            }
            let port = try #require(try await group.next() ?? nil)
            let code = try await kitchen.showPairingCode()
            let report = try await study.pair(with: "127.0.0.1:\(port)", code: code)
            #expect(report.didPair && report.peer == "kitchen")
            #expect(
                try await second.read { try String.fetchAll($0, sql: "SELECT tag FROM ItemTag") } == ["cold"])
            // From now on it finds the other one by itself.
            group.addTask {
                try await study.run()
                return nil
            }
            try await second.write { try $0.execute(sql: "UPDATE Item SET title = 'Figs'") }
            try await eventually("the item", within: .seconds(300)) {
                try await first.read { try String.fetchAll($0, sql: "SELECT title FROM Item") } == ["Figs"]
            }
            group.cancelAll()
        }
    }

    /// The first event of a kind; nil when the engine ends before.
    private static func first<Value: Sendable>(
        _ events: AsyncStream<SyncEvent>, of run: Task<Void, any Error>,
        _ pick: @escaping @Sendable (SyncEvent) -> Value?
    ) async -> Value? {
        let search = Task { await events.compactMap(pick).first { _ in true } }
        Task {
            _ = await run.result
            search.cancel()
        }
        return await search.value
    }

    private static let port: @Sendable (SyncEvent) -> Int? = { event in
        if case .listening(_, let port) = event { port } else { nil }
    }
    private static let failure: @Sendable (SyncEvent) -> PeerSyncError? = { event in
        if case .retrying(_, _, let error) = event { error } else { nil }
    }

    /// The machine that has the port is the other one itself, which is dialled meanwhile.
    @Test(.timeLimit(.minutes(5))) func anAppWhosePortIsTakenGoesOnAndGetsItLater() async throws {
        let (kitchen, _) = try Self.engine("kitchen")
        let (events, running) = (kitchen.events, Task { try await kitchen.run() })
        let port = try #require(await Self.first(events, of: running, Self.port))
        let (study, _) = try Self.engine("study", port: port)
        try await study.pair(with: "127.0.0.1:\(port)", code: kitchen.showPairingCode())

        // Who only listens hears of it at once.
        let error = await #expect(throws: PeerSyncError.self) { try await SyncListener(study).run() }
        #expect(error?.code == .cannotListen)

        let (told, connected, listening) = (study.events, study.events, study.events)
        let waiting = Task { try await study.run() }
        #expect(await Self.first(told, of: waiting, Self.failure)?.code == .cannotListen)
        let name = await Self.first(connected, of: waiting) { event in
            if case .connected(let name, _) = event { name } else { nil }
        }
        #expect(name == "kitchen")
        running.cancel()
        _ = await running.result
        #expect(await Self.first(listening, of: waiting, Self.port) == port)
        waiting.cancel()
        _ = await waiting.result
    }

    @Test(.timeLimit(.minutes(5))) func anAppThatWaitsForItsPortCanEnd() async throws {
        let (kitchen, _) = try Self.engine("kitchen")
        let (events, running) = (kitchen.events, Task { try await kitchen.run() })
        let port = try #require(await Self.first(events, of: running, Self.port))
        let (study, _) = try Self.engine("study", port: port)
        let told = study.events
        var listener = SyncListener(study)
        listener.neverGivesUp = true
        let waiting = Task { [listener] in try await listener.run() }
        #expect(await Self.first(told, of: waiting, Self.failure) != nil)
        try await study.store.settings.setSyncOn(false)
        let error = await #expect(throws: PeerSyncError.self) { try await waiting.value }
        #expect(error?.code == .switchedOff)
        running.cancel()
        _ = await running.result
    }

    @Test(arguments: [("kitchen:0", "123-456"), ("", "123-456"), ("kitchen", "12-3456"), ("kitchen", "")])
    func whatNobodyCouldMeanIsRefused(address: String, code: String) async throws {
        let (engine, _) = try Self.engine("study")
        let error = await #expect(throws: PeerSyncError.self) {
            try await engine.pair(with: address, code: code)
        }
        #expect(error?.code == .invalidInput)
    }

    @Test func aTypedCodeThatIsNoneIsNotLookedFor() async throws {
        let (engine, _) = try Self.engine("study")
        let error = await #expect(throws: PeerSyncError.self) { try await engine.pair(code: "12-3456") }
        #expect(error?.code == .invalidInput)
    }

    /// Otherwise the engine would connect to the port 34463.
    @Test(.timeLimit(.minutes(5)), arguments: [0, 99_999])
    func aPortThatIsNoneIsNotDialled(port: Int) async throws {
        let (engine, _) = try Self.engine("study")
        let connector = SyncConnector(engine, to: PeerAddress(host: "127.0.0.1", port: port))
        let error = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        #expect(error?.code == .unreachable)
        #expect(error?.message.hasSuffix("a port is a number from 1 to 65535") == true)
    }

    /// What has happened to the connection is no news for whoever taps Cancel.
    @Test(.timeLimit(.minutes(5))) func whoCancelsASyncHearsOfNoInterruption() async throws {
        let (engine, _) = try Self.engine("study")
        try await Trap.opening(isSilent: true) { address, trap in
            let sync = Task { try await SyncConnector(engine, to: address).syncOnce() }
            try await eventually("the connection", within: .seconds(300)) { trap.open == 1 }
            sync.cancel()
            await #expect(throws: CancellationError.self) { try await sync.value }
        }
    }

    @Test(.timeLimit(.minutes(5))) func anEngineListensWhereTheAppSays() async throws {
        let database = try DatabaseQueue()
        try await database.write { try $0.execute(sql: Self.sql) }
        let engine = try SyncEngine(
            for: database, app: "org.example.todo", tables: ["Item", "ItemTag"], host: "127.0.0.1", port: 0,
            discovery: .off)
        let (events, running) = (engine.events, Task { try await engine.run() })
        let host = await Self.first(events, of: running) { event in
            if case .listening(let host, _) = event { host } else { nil }
        }
        #expect(host == "127.0.0.1")
        running.cancel()
        _ = await running.result
    }

    @Test(
        arguments: [
            (.seconds(Int64.max), 1 << 47), (.seconds(-1), 0), (.milliseconds(1500), 1500),
        ] as [(Duration, Int64)])
    func anyDurationIsASkew(skew: Duration, milliseconds: Int64) throws {
        let identity = Identity.generate()
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: Self.sql) }
        let engine = try SyncEngine(
            for: database, app: "org.example.todo", tables: ["Item", "ItemTag"], identity: identity,
            discovery: .off, allowedSkew: skew)
        #expect(engine.allowedSkew == milliseconds)
        #expect(engine.identity.publicKey == identity.publicKey)
    }

    /// In step with the records, on the side that sends them and on the one that begins with nothing.
    @Test(.timeLimit(.minutes(5))) func theProgressHasATotal() async throws {
        let (kitchen, first) = try Self.engine("kitchen")
        let (study, second) = try Self.engine("study")
        let write = { @Sendable (db: Database, origin: String, count: Int) in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
                    INSERT INTO Item SELECT ?1 || n, 'Cream' FROM n
                    """, arguments: [origin, count])
        }
        try await first.write { try write($0, "k", 11_000) }
        func progress(_ events: AsyncStream<SyncEvent>, until end: (SessionStatistics) -> Bool) async
            -> [SessionStatistics]
        {
            var all: [SessionStatistics] = []
            for await case .progress(_, let statistics) in events {
                all.append(statistics)
                if end(statistics) { break }
            }
            return all
        }
        let receiving = study.events
        var sending = kitchen.events
        let connector = SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show())
        try await connector.syncOnce()
        var sent = await progress(sending) { $0.recordsSent == 11_000 }
        #expect(sent.count > 1 && sent.allSatisfy { $0.recordsSent + $0.recordsLeftToSend == 11_000 })
        let received = await progress(receiving) { $0.recordsReceived == 11_000 }
        #expect(
            received.count > 1
                && received.allSatisfy { $0.recordsReceived + ($0.recordsLeftToReceive ?? -1) == 11_000 },
            "\(received.map { ($0.recordsReceived, $0.recordsLeftToReceive) })")
        // What two machines find that the other one lacks, after each has written for itself.
        try await second.write { try write($0, "s", 2500) }
        try await first.write { try $0.execute(sql: "DELETE FROM grdb_sync_peerZone") }
        sending = study.events
        try await connector.syncOnce()
        sent = await progress(sending) { $0.recordsSent == 2500 }
        #expect(sent.count > 1 && sent.allSatisfy { $0.recordsSent + $0.recordsLeftToSend == 2500 })
    }

    /// The status has a machine as long as something is left, and not any more when both are in sync, the session has ended, or
    /// nobody here knows the name.
    @Test(.timeLimit(.minutes(5))) func theStatusSaysHowFarTheSessionsAre() async throws {
        let (kitchen, _) = try Self.engine("kitchen")
        let (study, _) = try Self.engine("study")
        try await SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show()).syncOnce()
        func statistics(left: Int) -> SessionStatistics {
            var statistics = SessionStatistics()
            (statistics.recordsReceived, statistics.recordsLeftToReceive) = (10 - left, left)
            return statistics
        }
        let digest = try await study.store.database.read { try study.store.status($0).digest }
        var statuses = study.status.makeAsyncIterator()
        var last: [String: Int?]?
        // The store may change, too, while the connection ends.
        func next() async throws -> [String: Int?]? {
            while let status = try await statuses.next() {
                let progress = status.progress.mapValues(\.recordsLeftToReceive)
                guard progress == last else {
                    last = progress
                    break
                }
            }
            return last
        }
        #expect(try await next() == [:])
        study.onEvent(.progress(name: "kitchen", statistics(left: 7)))
        #expect(try await next() == ["kitchen": 7])
        // One of several zones.
        study.onEvent(.inSync(name: "kitchen", zone: "club", digest, statistics(left: 7)))
        study.onEvent(.progress(name: "nobody", statistics(left: 1)))
        study.onEvent(.progress(name: "kitchen", statistics(left: 3)))
        #expect(try await next() == ["kitchen": 3])
        study.onEvent(.inSync(name: "kitchen", zone: nil, digest, statistics(left: 0)))
        #expect(try await next() == [:])
        study.onEvent(.progress(name: "kitchen", statistics(left: 2)))
        #expect(try await next() == ["kitchen": 2])
        study.onEvent(.disconnected(name: "kitchen", nil))
        #expect(try await next() == [:])
    }

    /// A machine whose clock is a year ahead ends each session with the other one.
    @Test(.timeLimit(.minutes(5))) func theStatusTellsTheLastErrorByItsCode() async throws {
        let (kitchen, _) = try Self.engine("kitchen")
        let (study, database) = try Self.engine("study")
        let connector = SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show())
        try await connector.syncOnce()
        #expect(try await kitchen.status.first { _ in true }?.peers.map(\.lastErrorCode) == [nil])
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_pendingChange (recordType, recordName, changedColumns, time)
                    VALUES ('Item', '1', -1, (julianday() - 2440587.5 + 365) * 86400000)
                    """)
            try db.execute(sql: "INSERT INTO Item VALUES ('1', 'Cream')")
        }
        await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        for engine in [kitchen, study] {
            let status = try await engine.status.first { $0.peers.first?.lastError != nil }
            #expect(status?.peers.map(\.lastErrorCode) == [.clockSkew])
        }
    }

    @Test func aMachineKeepsItsIdentityBesideTheDatabase() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appendingPathComponent("todo.sqlite").path
            let (first, _) = try Self.engine("study", DatabaseQueue(path: path))
            let (second, _) = try Self.engine("study", DatabaseQueue(path: path))
            #expect(first.identity.publicKey == second.identity.publicKey)
            #expect(FileManager.default.fileExists(atPath: path + "-identity.key"))
            // Another database of the same folder is another machine.
            let other = folder.appendingPathComponent("other.sqlite").path
            let (third, _) = try Self.engine("study", DatabaseQueue(path: other))
            #expect(third.identity.publicKey != first.identity.publicKey)
            // An app that keeps its key elsewhere has none in a file.
            let own = folder.appendingPathComponent("own.sqlite").path
            let identity = Identity.generate()
            let database = try DatabaseQueue(path: own)
            try await database.write { try $0.execute(sql: Self.sql) }
            let fourth = try SyncEngine(
                for: database, app: "org.example.todo", tables: ["Item", "ItemTag"], identity: identity,
                discovery: .off)
            #expect(fourth.identity.publicKey == identity.publicKey)
            #expect(!FileManager.default.fileExists(atPath: own + "-identity.key"))
        }
        // Nobody can open a database in memory again.
        let (one, another) = (try Self.engine("a").0, try Self.engine("b").0)
        #expect(one.identity.publicKey != another.identity.publicKey)
    }

    private struct Item: TableRecord { static let databaseTableName = "item" }
    private struct ItemTag: TableRecord {}
    private struct Elsewhere: TableRecord {}

    /// GRDB hears of the commits of its own connection alone.
    @Test(.timeLimit(.minutes(5))) func theStatusTellsWhatAnotherProgramDid() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appendingPathComponent("app.db").path
            let open = {
                var configuration = Configuration()
                configuration.journalMode = .wal
                configuration.busyMode = .timeout(60)
                return try DatabaseQueue(path: path, configuration: configuration)
            }
            let (engine, other) = (try Self.engine("kitchen", open()).0, try Self.engine("kitchen", open()).0)
            let running = Task { try await engine.run() }
            var statuses = engine.status.makeAsyncIterator()
            var status = try await statuses.next()
            #expect(status?.peers.isEmpty == true)
            _ = try await other.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "study")
            while status?.peers.isEmpty == true { status = try await statuses.next() }
            #expect(status?.peers.map(\.name) == ["study"])
            running.cancel()
            _ = await running.result
        }
    }

    @Test(.timeLimit(.minutes(5))) func theStatusTellsWhatWaits() async throws {
        let (kitchen, first) = try Self.engine("kitchen")
        let (study, second) = try Self.engine("study")
        let connector = SyncConnector(study, to: kitchen, code: try await kitchen.pairing.show())
        try await connector.syncOnce()
        var statuses = study.status.makeAsyncIterator()
        var status = try await statuses.next()
        #expect(status?.pendingByPeer == ["kitchen": 0] && status?.pending == 0)
        try await second.write { db in
            try db.execute(
                sql: "INSERT INTO Item VALUES ('1', 'Cream'); INSERT INTO ItemTag VALUES ('1', 'cold')")
        }
        while status?.pending != 2 { status = try await statuses.next() }
        #expect(try await second.read { try study.isPending($0, "1", of: Item.self) })
        #expect(try await second.read { try study.isPending($0, "1", "cold", of: ItemTag.self) })
        #expect(try await !second.read { try study.isPending($0, "2", of: Item.self) })
        try await connector.syncOnce()
        while status?.pendingByPeer != ["kitchen": 0] || status?.pending != 0 {
            status = try await statuses.next()
        }
        for (engine, database) in [(kitchen, first), (study, second)] {
            #expect(try await !database.read { try engine.isPending($0, "1", of: Item.self) })
        }
        #expect(status?.peers.map(\.name) == ["kitchen"] && status?.records == ["Item": 1, "ItemTag": 1])
        // What a peer has not acknowledged waits also when it was taken in.
        try await second.write { try $0.execute(sql: "UPDATE Item SET title = 'Figs'") }
        try await study.store.foldPendingChanges()
        #expect(try await second.read { try study.isPending($0, "1", of: Item.self) })
        for key in [["1", "cold"], []] as [[String]] {
            await #expect(throws: RecordStoreError.self) {
                try await second.read { try study.store.listing.isPending($0, key, of: "Item") }
            }
        }
        await #expect(throws: RecordStoreError.self) {
            try await second.read { try study.isPending($0, "1", of: Elsewhere.self) }
        }
    }
}
