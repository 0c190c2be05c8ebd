import GRDB
import MergeRules
import SyncModel

/// What people do to a record as a whole: they delete it, and bring it back.
extension RecordStore {
    /// Deletes a record, and with it what goes by the delete rules. Part of the transaction that is open.
    ///
    /// ``restore(_:_:)`` brings all of it back, until the retention time is over.
    ///
    /// - Returns: what was done, in order; the record itself comes last.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func delete(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        var steps: [DeletionStep] = []
        try db.inSavepoint {
            _ = try fold(db)
            steps = try deletionSteps(db, name)
            try change(db, [name]) { state, stamp in state.raise(\.deletion, to: stamp) }
            return .commit
        }
        return steps
    }

    /// What ``delete(_:_:)`` would do, in order, without doing it.
    public func deletionSteps(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        try DeletionPlan(tables: tables).steps(db, deleting: name)
    }

    /// Deletes a record, and what goes with it, for ever: every machine that hears of it forgets at once what was written. A
    /// record that is deleted, hidden or held can be named, too; and what was deleted below the record before goes with it.
    /// Part of the transaction that is open.
    ///
    /// - Returns: the names of the records; none when all were deleted for ever already.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func deleteForever(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        var names: [RecordName] = []
        try db.inSavepoint {
            _ = try fold(db)
            let set = try WorkingSet(db, tables)
            // Who is shown may be in the way of those that deny it.
            if try set.hasRow(name) || set.known(name) == nil { _ = try deletionSteps(db, name) }
            var rules = try RuleApplication(set)
            // What was deleted for ever already stays as it is, under its stamp.
            names = try rules.below(name).filter { try set.known($0)?.state.isErased != true }
            try change(db, names) { state, stamp in state.erase(at: stamp) }
            return .commit
        }
        return names
    }

    /// Brings a deleted record back, with everything that had gone only because of its deletion, and with the deleted
    /// records that it needs. Part of the transaction that is open.
    ///
    /// - Returns: the records that are shown again, by name.
    /// - Throws: `noSuchRecord` when nothing is known of the record; `notDeleted`.
    @discardableResult
    public func restore(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        var shown: [RecordName] = []
        try db.inSavepoint {
            _ = try fold(db)
            guard let record = try WorkingSet(db, tables).known(name), !record.state.fields.isEmpty else {
                throw RecordStoreError(.noSuchRecord, "nothing is known here of a record \(name)")
            }
            guard record.original.map({ [.deleted, .hidden].contains($0.status) }) == true else {
                throw RecordStoreError(.notDeleted, "\(name) is not deleted")
            }
            let changed = try change(db, [name]) { state, stamp in state.raise(\.revival, to: stamp) }
            shown = changed.filter { record in
                record.placement == .inTable && record.original?.status != .inTable
            }.map(\.name).sorted()
            return .commit
        }
        return shown
    }

    /// Changes the states of some records, under one new stamp.
    ///
    /// - Returns: these records, and those that came or went with them.
    @discardableResult
    private func change(
        _ db: Database, _ names: [RecordName], _ body: (inout RecordState, Stamp) -> Void
    ) throws -> [WorkingRecord] {
        let set = try WorkingSet(db, tables)
        let stamp = try newStamp(db)
        for name in names { try body(&set.record(name, newIn: Zones.defaultID).state, stamp) }
        _ = try set.save(generation: generation)
        return set.order
    }

    /// The stamp of what somebody does here now.
    func newStamp(_ db: Database) throws -> Stamp {
        var clock = try StoredClock.load(db)
        let time = clock.tick(milliseconds: now())
        try StoredClock.save(db, clock)
        return Stamp(time: time, replica: replica)
    }
}
