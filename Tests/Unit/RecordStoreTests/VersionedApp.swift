import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// A database that an app opens again and again, with other versions of its schema.
class VersionedApp {
    /// Opens the store of a version.
    typealias Opening = (DatabaseQueue, ReplicaID) throws -> RecordStore

    let database: DatabaseQueue
    private let replica: ReplicaID
    private(set) var store: RecordStore

    /// - Parameter sql: makes the tables of the first version.
    init(_ number: UInt64, _ sql: String, _ open: Opening) throws {
        replica = ReplicaID(rawValue: number)
        database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        store = try open(database, replica)
    }

    func execute(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

    /// Runs a migration, and opens the store with the schema of the new version.
    func migrate(_ sql: String, _ open: Opening) throws {
        try execute(sql)
        store = try open(database, replica)
    }

    func rows(_ sql: String = "SELECT * FROM Item ORDER BY id") throws -> [String] {
        try database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value!)" }.joined(separator: "|")
            }
        }
    }

    /// Takes in what was written, and returns what sync knows.
    func states() throws -> [RecordState] {
        try database.write { db in
            _ = try store.fold(db)
            var states: [RecordState] = []
            try store.listing.forEachState(db) { states.append($0) }
            return states
        }
    }

    var isSound: Bool {
        get throws {
            try database.write { db in
                _ = try store.fold(db)
                return try store.upkeep.check(db).isSound
            }
        }
    }

    /// Gives other apps all states of this one, and takes theirs, as often as anything changes.
    func sync(with others: VersionedApp...) throws {
        for _ in 0..<3 {
            for other in others {
                for (from, to) in [(self, other), (other, self)] {
                    let states = try from.states()
                    _ = try to.database.write { try to.store.merge($0, states) }
                }
            }
        }
        let digests = try ([self] + others).map { app in
            try app.database.read { try app.store.status($0).digest }
        }
        #expect(digests.allSatisfy { $0 == digests[0] })
    }
}
