import Foundation
import GRDB
import GRDBSQLite
import PeerSyncModel

/// What a reconciliation needs of a zone.
extension PeerZone {
    /// Lists all live records for a reconciliation, with the token of this moment. Fold first. Reads every record.
    ///
    /// - Parameter limit: the number of items in memory.
    package func inventory(_ db: Database, limit: Int = InventoryWriter.usualLimit) throws -> (
        items: Inventory, token: ChangeToken
    ) {
        try check(db)
        // The plus keeps SQLite from using the index of changes, for then it would look up each record. A search through all zones for
        // a small part of the records would take longer.
        let zones = try Zones.all(db)
        let total = zones.reduce(0) { $0 &+ $1.digest.count }
        let isLarge = try Zones.digest(db, zoneID).count >= total / 8
        var writer = InventoryWriter(limit: limit, directory: directory)
        do {
            var plain = PlainRecords(ShapeTable(db))
            let condition = "\(isLarge ? "+" : "")zone = ? AND status <> 1"
            try forEachItem(db, where: condition, [zoneID], &plain) {
                try writer.append($1, changeSequence: $2)
            }
            return (try writer.finish(), try ChangeLog.current(db))
        } catch let error as PosixError {
            throw RecordStoreError(
                error.isOutOfSpace ? .noSpace : .unreadableFile,
                "the list of all records cannot be kept beside the database: \(error)")
        }
    }

    /// Where the database is; nil if it has no file.
    private var directory: URL? {
        let path = store.database.path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return URL(fileURLWithPath: path).deletingLastPathComponent()
    }

    /// Finds the names of the records that have these ids now.
    ///
    /// - Parameter inventory: what had these ids before.
    package func names(_ db: Database, of ids: [NegentropyID], in inventory: Inventory) throws -> [RecordName]
    {
        try check(db)
        guard !ids.isEmpty else { return [] }
        let wanted = Set(ids)
        var names: [RecordName] = []
        var plain = PlainRecords(ShapeTable(db))
        // In the order of their changes: groups stay together, and what others refer to comes first.
        for sequence in Set(try inventory.changeSequences(of: wanted)).sorted() {
            let condition = "zone = ? AND changeSequence = ?"
            try forEachItem(db, where: condition, [zoneID, sequence], &plain) { name, item, _ in
                if wanted.contains(item.id) { names.append(name) }
            }
        }
        return names
    }

    /// Passes the items of records on, with the numbers of their last changes.
    private func forEachItem(
        _ db: Database, where condition: String, _ arguments: StatementArguments, _ plain: inout PlainRecords,
        _ body: (RecordName, NegentropyItem, Int64) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(
            sql:
                "SELECT remoteRecordID, remoteRecord, changeSequence FROM grdb_sync_remoteRecord WHERE \(condition)"
        )
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while let row = try rows.next() {
            let name = try RecordName(row[0])
            if let item = try plain.item(name, statement.sqliteStatement, 1) {
                try body(name, item, row[2])
                continue
            }
            let metadata = try RecordMetadata(
                row.bytes("remoteRecord"), shapes: plain.shapes, name: name.description)
            let item = NegentropyItem(
                name: name, stamps: Array(zip(metadata.fieldNames, metadata.stamps)),
                valueHash: metadata.valueHash, revival: metadata.revival)
            if let item { try body(name, item, row[2]) }
        }
    }

    /// Reads records of the zone by name, until a batch is large enough; at least one, if there is one.
    package func states(
        _ db: Database, named names: [RecordName], limit: BatchLimit = .standard
    ) throws -> NamedRecords {
        try check(db)
        let working = WorkingSet(db, store.tables)
        let sent = try WithheldRecords.Sent(db, zone: zoneID)
        var read = NamedRecords()
        var size = BatchSize()
        for name in names {
            read.namesRead += 1
            guard sent.contains(name), let record = try working.known(name), record.zone == zoneID,
                !record.state.isTooLarge
            else { continue }
            read.records.append(record.state.transferred)
            size.add(record.state)
            guard size.isSmall(limit) else { break }
        }
        return read
    }
}
