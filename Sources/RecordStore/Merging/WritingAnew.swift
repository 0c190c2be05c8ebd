import GRDB
import SyncModel

extension RecordStore {
    /// Writes the fields of some records as if somebody had written them here just now, all under one new stamp. This brings
    /// back records that are deleted or hidden. Part of the transaction that is open.
    ///
    /// - Parameter zone: where records go that are new; the default zone if none is given.
    /// - Throws: what ``merge(_:_:zone:)`` throws.
    @discardableResult
    public func writeAnew(_ db: Database, _ states: [RecordState], zone: Zone? = nil) throws -> StoreChanges {
        // What other programs wrote before gets an older stamp.
        _ = try fold(db)
        let stamp = try newStamp(db)
        let written = states.map { state in
            RecordState(
                name: state.name,
                fields: state.fields.map { RecordField(name: $0.name, value: $0.value, stamp: stamp) })
        }
        return try merge(db, written, zone: zone)
    }

    /// Whether a record is out of sight only because another one is deleted. Fold first.
    public func isHidden(_ db: Database, _ name: RecordName) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM remoteRecord WHERE remoteRecordID = ? AND status = \(RecordStatus.hidden.rawValue))
                    """), arguments: [name.description]) ?? false
    }
}
