import GRDB
import PeerSyncModel
import PeerSyncRules

/// The writes of people and programs in terms of records: merging states, deleting records, and restoring them.
extension RecordStore {
    // MARK: Merging

    /// Merges states that carry their own stamps, such as those of an import. Part of the open transaction; all or
    /// nothing.
    ///
    /// - Parameters:
    ///   - db: the connection of the open transaction.
    ///   - states: fields with their stamps, deletions and revivals.
    ///   - zone: the zone of new records.
    /// - Throws: ``RecordStoreError`` `noSuchZone` when the zone is gone, or another store's; `otherZone` when one of the records is in
    ///   another zone; `invalidRecord` when one is larger than
    ///   ``maximumRecordSize``, or has a field whose name `RecordField.canBeNamed` refuses or whose value `FieldValue.canBeSent` does.
    public func merge(
        _ db: Database, _ states: [RecordState], zone: ZoneTarget = .default
    ) throws -> StoreChanges {
        try merge(db, states, StateMerge.Arrival(zone: Zones.row(db, of: zone)))
    }

    private func merge(
        _ db: Database, _ states: [RecordState], _ arrival: StateMerge.Arrival
    ) throws -> StoreChanges {
        try Self.checkFields(states)
        return try inStep(db) {
            var merge = try StateMerge(db, self, arrival)
            let changes = try merge.run(states)
            if let name = merge.refused[.tooLarge]?.first {
                throw RecordStoreError(
                    .invalidRecord,
                    "\(name) is too large to be synced: at most 8 MiB and 1024 fields are allowed")
            }
            if let name = merge.refused[.otherZone]?.first {
                throw RecordStoreError(
                    .otherZone,
                    "\(name) is in another zone of this store already; a record is in one zone only")
            }
            return changes
        }
    }

    /// Folds, and then calls `body`, all or nothing.
    private func inStep<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
        var result: Value?
        try db.inSavepoint {
            _ = try fold(db)
            result = try body()
            return .commit
        }
        return result!
    }

    /// Refuses names and values that the other machines would refuse: each session with them would end there.
    private static func checkFields(_ states: [RecordState]) throws {
        for state in states {
            for field in state.fields {
                guard RecordField.canBeNamed(field.name) else {
                    throw RecordStoreError(
                        .invalidRecord,
                        "\(state.name) has a field “\(field.name)”, which is no name of a field")
                }
                guard field.value.canBeSent else {
                    throw RecordStoreError(
                        .invalidRecord,
                        "\(state.name) has a value in “\(field.name)” that no other machine takes")
                }
            }
        }
    }

    /// Writes the fields of some records as if a program had written them here just now, all under one new stamp. This
    /// brings back deleted and hidden records. Part of the open transaction.
    ///
    /// - Parameters:
    ///   - db: the connection of the open transaction.
    ///   - states: the fields to write. Their stamps do not matter.
    ///   - zone: the zone of new records.
    /// - Throws: what ``merge(_:_:zone:)`` throws.
    @discardableResult
    public func writeAnew(
        _ db: Database, _ states: [RecordState], zone: ZoneTarget = .default
    ) throws -> StoreChanges {
        // Gives the earlier writes of other programs an older stamp.
        _ = try fold(db)
        let stamp = try clock.newStamp(db)
        let written = states.map { state in
            RecordState(
                name: state.name,
                fields: state.fields.map { RecordField(name: $0.name, value: $0.value, stamp: stamp) })
        }
        return try merge(db, written, StateMerge.Arrival(zone: Zones.row(db, of: zone), writeStamp: stamp))
    }

    // MARK: Deleting

    /// Deletes a record, with everything that goes with it by the delete rules. Part of the open transaction.
    ///
    /// ``restore(_:_:)`` brings all of it back, until the retention time is over.
    ///
    /// - Returns: the steps in order; the record itself comes last.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func delete(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        try delete(db, [name])
    }

    /// Deletes records under one stamp, with everything that goes with each by the delete rules: so others can tell that
    /// they went together. Part of the open transaction.
    ///
    /// - Returns: the steps in order.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func delete(_ db: Database, _ names: [RecordName]) throws -> [DeletionStep] {
        try inStep(db) {
            var seen: Set<RecordName> = []
            var steps: [DeletionStep] = []
            for name in names {
                steps += try deletionSteps(db, name).filter {
                    $0.action == .nullify || seen.insert($0.name).inserted
                }
            }
            try change(db, names) { state, stamp in state.raise(\.deletion, to: stamp) }
            return steps
        }
    }

    /// Returns the steps that the deletion of a record would take, in order, without taking them.
    public func deletionSteps(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        try DeletionPlan(tables: tables).steps(db, deleting: name)
    }

    /// Deletes a record for ever, with everything that goes with it: every machine that receives this forgets the
    /// values at once. The record may also be deleted, hidden or held. Records below it that were deleted before go
    /// with it. Part of the open transaction.
    ///
    /// - Returns: the names of the records; empty when all were already deleted for ever.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func deleteForever(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        try inStep(db) {
            let set = WorkingSet(db, tables)
            // Only for a shown record can the delete rules deny the deletion.
            if try set.hasRow(name) || set.known(name) == nil { _ = try deletionSteps(db, name) }
            var rules = try RuleApplication(set)
            // A record that was already deleted for ever keeps its stamp.
            let names = try rules.below(name).filter { try set.known($0)?.state.isErased != true }
            try change(db, names) { state, stamp in state.erase(at: stamp) }
            return names
        }
    }

    /// Brings a deleted record back, with everything that went only because of its deletion, and with the deleted
    /// records that it needs. Part of the open transaction.
    ///
    /// - Returns: the records that are shown again, by name.
    /// - Throws: `noSuchRecord` when the store knows nothing of the record; `notDeleted`.
    @discardableResult
    public func restore(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        try inStep(db) {
            guard let record = try WorkingSet(db, tables).known(name), !record.state.fields.isEmpty else {
                throw RecordStoreError(.noSuchRecord, "nothing is known here of a record \(name)")
            }
            guard record.original.map({ [.deleted, .hidden].contains($0.status) }) == true else {
                throw RecordStoreError(.notDeleted, "\(name) is not deleted")
            }
            let changed = try change(db, [name]) { state, stamp in state.raise(\.revival, to: stamp) }
            return changed.filter { record in
                record.placement == .inTable && record.original?.status != .inTable
            }.map(\.name).sorted()
        }
    }

    /// Brings deleted records back, under one stamp.
    func revive(_ db: Database, _ names: [RecordName]) throws {
        guard !names.isEmpty else { return }
        try change(db, names) { state, stamp in state.raise(\.revival, to: stamp) }
    }

    /// Changes the states of some records under one new stamp.
    ///
    /// - Returns: these records, and those that came or went with them.
    @discardableResult
    private func change(
        _ db: Database, _ names: [RecordName], _ body: (inout RecordState, Stamp) -> Void
    ) throws -> [WorkingRecord] {
        let stamp = try clock.newStamp(db)
        let set = WorkingSet(db, tables, writeStamp: stamp)
        for name in names { try body(&set.record(name, newIn: Zones.defaultID).state, stamp) }
        _ = try set.save(generation: generation)
        return set.order
    }

    /// Forgets records, without telling peers. The rules then treat them as unknown: they hold each record that needs
    /// one of them, and empty references with the rule nullify in their rows. Part of the open transaction.
    func forget(_ db: Database, _ names: [RecordName]) throws {
        let set = WorkingSet(db, tables)
        for name in names { try set.known(name)?.forget() }
        _ = try set.save(generation: generation)
    }

    /// Gives held records a row whose values were those of rows that are gone.
    func tryHeldAgain(_ db: Database) throws {
        for table in tables.all where !table.uniqueIndexes.isEmpty {
            try save(db, HeldReferenceTable.referrers(db, of: table.type.name), as: .saveAnew)
        }
    }

    /// Lets every held record try again: what has refused it may be gone, such as a trigger or a CHECK.
    func tryAllHeldAgain(_ db: Database) throws {
        let held = try RecordName.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM grdb_sync_remoteRecord
                WHERE status = \(RecordStatus.held.rawValue) AND status <> 0 ORDER BY remoteRecordID
                """
        ).filter { tables[$0.recordType] != nil }
        for start in stride(from: 0, to: held.count, by: 5000) {
            try save(db, Array(held[start..<min(start + 5000, held.count)]), as: .saveAnew)
        }
    }

    /// Saves those of some records that sync knows, even if their states stay.
    ///
    /// - Parameter tables: those of the schema, or these with former columns.
    func save(
        _ db: Database, _ names: [RecordName], as treatment: WorkingRecord.Treatment,
        in tables: RecordTables? = nil
    ) throws {
        let set = WorkingSet(db, tables ?? self.tables)
        for name in names { try set.known(name)?.treatment = treatment }
        _ = try set.save(generation: generation)
    }
}
