import ArgumentParser
import Foundation
import GRDB
import PeerSync
import PeerSyncChannel
import Synchronization

/// A machine with a scorebook, in a process of its own: does what each line of its input says, and answers each with a line
/// of JSON. ``MachineProcess`` is the other side.
struct Machine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var directory: String
    @Argument var name: String

    struct Address: Codable { let port: Int }
    struct Code: Codable { let digits: String }
    struct Duration: Codable { let seconds: Double }

    struct Sync: Codable {
        /// Live records that both sides hold.
        var records: Int
        /// From the first byte of the connection, handshake included, until everything is committed and the digests were
        /// found equal.
        var seconds: Double
        /// Both ways, handshake and encryption included.
        var bytes: Int
        var reconciliationRounds: Int
    }

    func run() async throws {
        let household = try Household(in: URL(fileURLWithPath: directory), name)
        let client = Client(household)
        var server: ListeningHousehold?
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let number = words.count > 1 ? Int(words[1]) ?? 0 : 0
            switch words.first {
            case "listen":
                let listening = try await ListeningHousehold(household, name: name)
                server = listening
                try WorkerProcess.respond(Address(port: listening.port))
            case "code": try WorkerProcess.respond(Code(digits: try await server?.code().formatted ?? ""))
            case "usage": try WorkerProcess.respond(ResourceUsage.current())
            case "connect": try await WorkerProcess.respond(client.connect(port: number, code: words[2]))
            case "sync": try await WorkerProcess.respond(client.sync())
            case "verify": try await WorkerProcess.respond(client.verify())
            case "change":
                let elapsed = try await seconds { try await household.changePlayers(number) }
                try WorkerProcess.respond(Duration(seconds: elapsed))
            case "change-unnoticed":
                let elapsed = try await seconds { try await household.changePlayersUnnoticed(number) }
                try WorkerProcess.respond(Duration(seconds: elapsed))
            case "look":
                try WorkerProcess.respond(
                    Duration(seconds: try await seconds { try await household.readAll() }))
            default: throw ValidationError("“\(line)” is nothing that a machine of the benchmark does")
            }
        }
        server?.end()
    }
}

/// The side that connects.
private final class Client: Sendable {
    private let engine: SyncEngine
    private let equalAt: Arrival
    private let address = Mutex<PeerAddress?>(nil)

    /// When the two were found equal last.
    private final class Arrival: Sendable {
        let time = Mutex<ContinuousClock.Instant?>(nil)
    }

    init(_ household: Household) {
        let equalAt = Arrival()
        self.equalAt = equalAt
        engine = SyncEngine(
            app: .scorebook, store: household.scorebook.records, identity: household.identity,
            displayName: "client", discovery: .off
        ) { event in
            if case .inSync = event { equalAt.time.withLock { $0 = .now } }
        }
    }

    func connect(port: Int, code: String) async throws -> Machine.Sync {
        let address = PeerAddress(host: "127.0.0.1", port: port)
        self.address.withLock { $0 = address }
        let code = try PairingCode(code)
        return try await measure { try await SyncConnector($0, to: address, code: code).syncOnce() }
    }

    func sync() async throws -> Machine.Sync {
        guard let address = address.withLock({ $0 }) else { throw IncompleteSync(records: 0) }
        return try await measure { try await SyncConnector($0, to: address).syncOnce() }
    }

    func verify() async throws -> Machine.Sync {
        guard let address = address.withLock({ $0 }) else { throw IncompleteSync(records: 0) }
        return try await measure { try await SyncConnector($0, to: address).verify() }
    }

    private func measure(_ body: (SyncEngine) async throws -> SyncReport) async throws -> Machine.Sync {
        equalAt.time.withLock { $0 = nil }
        let begin = ContinuousClock.now
        let report = try await body(engine)
        guard let end = equalAt.time.withLock({ $0 }) else { throw IncompleteSync(records: 0) }
        let statistics = report.statistics
        return Machine.Sync(
            records: Int(report.digest.count), seconds: (end - begin) / .seconds(1),
            bytes: statistics.bytesReceived + statistics.bytesSent,
            reconciliationRounds: statistics.reconciliationRounds)
    }
}

extension Household {
    /// Changes one column of players all over the scorebook, in one transaction, as another program would.
    func changePlayers(_ count: Int) async throws {
        try await database.write { try Self.changePlayers($0, count) }
    }

    /// The same past the triggers, so that nobody knows before all is compared.
    func changePlayersUnnoticed(_ count: Int) async throws {
        try await database.write { db in
            try db.execute(sql: "INSERT INTO grdb_sync_capturePause (id) VALUES (1)")
            try Self.changePlayers(db, count)
            try db.execute(sql: "DELETE FROM grdb_sync_capturePause")
        }
    }

    private static func changePlayers(_ db: Database, _ count: Int) throws {
        let all = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM SBPlayer") ?? 0
        try db.execute(
            sql: """
                UPDATE SBPlayer SET seatOrder = 100 + (COALESCE(seatOrder, 0) + 1) % 100
                WHERE rowid IN (
                    SELECT rowid FROM SBPlayer WHERE rowid % ? = 0 LIMIT ?)
                """, arguments: [max(1, all / max(1, count)), count])
        guard db.changesCount == min(count, all) else { throw IncompleteSync(records: db.changesCount) }
    }

    /// Reads every row of the records and of what sync knows of them, in order of name, and does nothing with them.
    func readAll() async throws {
        try await database.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'SB*'")
            for table in tables {
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT * FROM grdb_sync_remoteRecord JOIN \(table) ON recordName = remoteRecordID ORDER BY remoteRecordID
                        """)
                while try rows.next() != nil {}
            }
        }
    }
}
