import GRDB
import PeerSyncModel

/// The lists of field names of records, by number: the table `grdb_sync_recordShape`.
///
/// It reads lists when they are needed and keeps them for one transaction, because a rollback takes their numbers back.
/// Writers of records decide how many lists there are, so it keeps only some in memory.
final class ShapeTable {
    /// The most lists in memory; it drops all of them to make room for more.
    static let limit = 1024

    let db: Database
    private var namesByID: [Int64: [String]] = [:]
    private var idsByNames: [[String]: Int64] = [:]
    /// The list that somebody asked for last: records that come together mostly share it.
    private var last: (names: [String], id: Int64)?

    init(_ db: Database) { self.db = db }

    /// The number of lists in memory.
    var count: Int { namesByID.count }

    func fieldNames(_ id: Int64) throws -> [String] {
        if id == 0 { return [] }
        if let names = namesByID[id] { return names }
        let statement = try db.cachedStatement(
            sql: "SELECT fieldNames FROM grdb_sync_recordShape WHERE id = ?")
        guard let text = try String.fetchOne(statement, arguments: [id]) else {
            throw ByteReader.Malformed(what: "a shape")
        }
        let names = text.split(separator: " ").map(String.init)
        keep(names, id)
        return names
    }

    /// Returns the number of a list of names, and gives one to a new list.
    func id(_ names: [String]) throws -> Int64 {
        if names.isEmpty { return 0 }
        if let last, last.names == names { return last.id }
        let id = try idsByNames[names] ?? findOrAdd(names)
        last = (names, id)
        return id
    }

    private func findOrAdd(_ names: [String]) throws -> Int64 {
        let text = names.joined(separator: " ")
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM grdb_sync_recordShape WHERE fieldNames = ?")
        if let id = try Int64.fetchOne(statement, arguments: [text]) {
            keep(names, id)
            return id
        }
        try db.executeCached("INSERT INTO grdb_sync_recordShape (fieldNames) VALUES (?)", [text])
        keep(names, db.lastInsertedRowID)
        return db.lastInsertedRowID
    }

    private func keep(_ names: [String], _ id: Int64) {
        if namesByID.count >= Self.limit {
            namesByID.removeAll(keepingCapacity: true)
            idsByNames.removeAll(keepingCapacity: true)
        }
        namesByID[id] = names
        idsByNames[names] = id
    }
}
