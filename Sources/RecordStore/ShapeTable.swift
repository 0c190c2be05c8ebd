import GRDB
import SyncModel

/// The lists of field names that records have, by number: the table `recordShape`.
///
/// Loaded once per transaction, and never kept beyond it: a number that a rolled-back transaction gave out means
/// nothing.
final class ShapeTable {
    private var namesByID: [Int64: [String]] = [0: []]
    private var idsByNames: [[String]: Int64] = [[]: 0]

    init(_ db: Database) throws {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT id, fieldNames FROM recordShape"))
        while let row = try rows.next() {
            let names = (row[1] as String).split(separator: " ").map(String.init)
            namesByID[row[0]] = names
            idsByNames[names] = row[0]
        }
    }

    func fieldNames(_ id: Int64) throws -> [String] {
        guard let names = namesByID[id] else { throw ByteReader.Malformed(what: "a shape") }
        return names
    }

    /// The number of a list of names, given out now if it is new.
    func id(_ names: [String], _ db: Database) throws -> Int64 {
        if let id = idsByNames[names] { return id }
        try db.cachedStatement(sql: "INSERT INTO recordShape (fieldNames) VALUES (?)")
            .execute(arguments: [names.joined(separator: " ")])
        let id = db.lastInsertedRowID
        namesByID[id] = names
        idsByNames[names] = id
        return id
    }
}
