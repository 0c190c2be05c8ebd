import GRDB
import PeerSyncModel

/// Writes records in one transaction: their rows and their metadata.
///
/// A ``WorkingSet`` decides about records that affect each other, and writes what it has decided. Most records of a
/// first sync affect no other record: ``insertIfNew(_:hashes:zone:peer:_:)`` writes those at once.
///
/// It remembers what it has found in the store. A ``WorkingSet`` that saves in the transaction makes it forget this. Call
/// ``forget()`` after any other write.
final class RecordWriter {
    /// The most layouts that it remembers of a type.
    private static let rememberedLayouts = 64

    let db: Database
    let tables: RecordTables
    let shapes: ShapeTable
    let sound: SoundRecords
    let takesShortWays = ShortWays.areTaken
    private var layouts: [String: [RowLayout]] = [:]
    /// The layout that was used last.
    private var lastLayout: RowLayout?
    private var modificationDate = ModificationDate()
    private var areAnyWaiting: Bool?
    /// The types of whose tables ``tellObservers(of:)`` has told.
    private var told: Set<String> = []
    private var bindings = Bindings()
    /// Both keep their memory from record to record.
    var hasher = RecordHasher()
    var blob: [UInt8] = []
    // Two statements: before each execution GRDB asks its observers about every kind of change that a statement may make.
    private lazy var insertMetadata = Result { try db.statementToBind(Self.metadataSQL("NOTHING")) }
    private lazy var replaceMetadata = Result {
        try db.statementToBind(
            Self.metadataSQL(
                """
                UPDATE SET status = excluded.status, changeSequence = excluded.changeSequence,
                    changeGroup = excluded.changeGroup, sourcePeer = excluded.sourcePeer,
                    remoteRecord = excluded.remoteRecord
                """))
    }
    private lazy var findKnown = Result {
        try db.statementToBind("SELECT 1 FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?")
    }
    /// The tables whose rows a trigger of the app's may change as soon as they are written.
    private(set) lazy var tablesOfOthers = Result { try CaptureTriggers.tablesOfOthers(db) }
    private lazy var findWaiting = Result { try db.statementToBind(HeldReferenceTable.awaits) }

    init(_ db: Database, _ tables: RecordTables) {
        self.db = db
        self.tables = tables
        shapes = ShapeTable(db)
        sound = SoundRecords(db, tables)
    }

    /// Forgets what it has found, because somebody else has written in this transaction.
    func forget() {
        sound.forget()
        areAnyWaiting = nil
    }

    // MARK: Metadata

    /// What the store notes of a record beside its encoded metadata.
    struct Note {
        let zone: Int64
        let status: RecordStatus
        let sequence: Int64
        let group: Int64
        /// The peer that has exactly this state, because it sent it.
        let source: Int64?
    }

    /// - Parameter action: what to do when sync knows the record.
    private static func metadataSQL(_ action: String) -> String {
        """
        INSERT INTO grdb_sync_remoteRecord (
            remoteRecordID, zone, status, changeSequence, changeGroup, sourcePeer, remoteRecord)
        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (remoteRecordID) DO \(action)
        """
    }

    /// Writes a record's metadata.
    ///
    /// - Parameter isReplacing: whether to replace the metadata of a record that sync knows. It stays in its zone.
    /// - Returns: false when sync knows the record, and its metadata stay.
    @discardableResult
    func writeMetadata(
        _ name: RecordName, _ note: Note, _ blob: [UInt8], replacing isReplacing: Bool
    ) throws -> Bool {
        bindings.begin()
        bindings.append(name.description)
        bindings.append(note.zone)
        bindings.append(Int64(note.status.rawValue))
        bindings.append(note.sequence)
        bindings.append(note.group)
        bindings.append(note.source)
        bindings.append(blob: blob)
        try bindings.execute(isReplacing ? replaceMetadata.get() : insertMetadata.get())
        return db.changesCount > 0
    }

    /// Whether sync knows a record.
    func isKnown(_ name: RecordName) throws -> Bool {
        bindings.begin()
        bindings.append(name.description)
        return try bindings.findsRow(findKnown.get())
    }

    // MARK: Rows

    /// Writes a record's row: the columns of its fields that the table has, and `modificationDate`. Columns that no
    /// replica has written keep their values, or take their defaults.
    ///
    /// - Parameters:
    ///   - present: the fields with the values of the row; it then writes only what differs. nil if nobody knows them.
    ///   - isDated: whether the row has the right `modificationDate` already.
    func writeRow(
        _ state: RecordState, in table: RecordTable, from present: [RecordField]?, isDated: Bool = false
    ) throws {
        let date = dateText(of: state)
        let fields =
            table.hasExactly(state.fields) ? state.fields : state.fields.filter { table.hasColumn($0.name) }
        if let present {
            let changed = changed(fields, from: present)
            if isDated, changed.isEmpty { return }
            tellObservers(of: table)
            do {
                if try layout(of: state.name, changed)?.update(state.name, changed, date) == true { return }
            } catch let error as DatabaseError where changed.isEmpty && db.isRefusal(error) {
                // The row shows all that it has to: an app that lets nobody change it only keeps it from getting its date.
                return
            }
        }
        guard let layout = try layout(of: state.name, fields) else { return }
        tellObservers(of: table)
        guard try hasTriggersOfOthers(table) else { return try layout.upsert(state.name, fields, date) }
        // SQLite runs the update of an upsert as OR ABORT, and puts that in the place of what the statements of triggers say.
        if try !layout.update(state.name, fields, date), try !table.exists(db, state.name) {
            try layout.insert(state.name, fields, date)
        }
    }

    /// Does the same for a row whose values nobody knows. It looks at the row: a trigger of the app's may refuse even a write
    /// that changes nothing, and the record would lose its row.
    ///
    /// - Parameter isFound: whether there is a row, and nobody has put a substitute into it.
    func writeRow(_ state: RecordState, in table: RecordTable, asFound isFound: Bool) throws {
        guard isFound, let row = try table.row(db, state.name), let stamp = state.newestWrite else {
            return try writeRow(state, in: table, from: nil)
        }
        let fields = zip(table.fieldNames, row.values).map { RecordField(name: $0, value: $1, stamp: stamp) }
        let isDated = table.modificationDate == nil || row.modificationDate == dateText(of: state)
        try writeRow(state, in: table, from: fields, isDated: isDated)
    }

    /// Removes a record's row, with the capture triggers paused. What is deleted for all machines goes, whatever a trigger of the
    /// app's says: where one refuses that, or keeps the row, it removes the row once more without any trigger.
    func deleteRow(_ name: RecordName, in table: RecordTable) throws {
        tellObservers(of: table)
        let isTaken = try db.catchingConstraint(in: table) { try table.delete(db, name) }
        guard try !isTaken || hasTriggersOfOthers(table) && table.exists(db, name) else { return }
        let wereOn = CaptureTriggers.switchOff(db)
        defer { if wereOn { CaptureTriggers.switchOn(db) } }
        // Without triggers SQLite would leave a row whose deletion fails in some of its indexes alone.
        try db.inSavepoint {
            try table.delete(db, name)
            return .commit
        }
    }

    /// The fields with other values than those of a row.
    private func changed(_ fields: [RecordField], from present: [RecordField]) -> [RecordField] {
        if takesShortWays, fields.count == present.count,
            fields.indices.allSatisfy({ fields[$0].name == present[$0].name })
        {
            return fields.indices.filter { fields[$0].value != present[$0].value }.map { fields[$0] }
        }
        let values = Dictionary(present.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return fields.filter { values[$0.name] != $0.value }
    }

    /// Returns the layout of some fields of a record; nil if its type has no table, or the table no column for one of
    /// them.
    func layout(of name: RecordName, _ fields: [RecordField]) throws -> RowLayout? {
        if let lastLayout, lastLayout.isLayout(of: name, fields) { return lastLayout }
        let type = name.recordType
        if let known = layouts[type]?.first(where: { $0.isLayout(of: name, fields) }) {
            lastLayout = known
            return known
        }
        guard let table = tables[type], fields.allSatisfy({ table.hasColumn($0.name) }) else { return nil }
        if layouts[type, default: []].count >= Self.rememberedLayouts { layouts[type] = nil }
        let layout = RowLayout(db, table, fields.map(\.name))
        layouts[type, default: []].append(layout)
        return layout
    }

    /// Whether a trigger of the app's may change a row of a table as soon as it is written.
    func hasTriggersOfOthers(_ table: RecordTable) throws -> Bool {
        let tables = try tablesOfOthers.get()
        return tables.contains { $0.isSameName(as: table.type.table) }
    }

    /// Tells those who observe a table that its rows change, once for all of this writer: SQLite reports no changes of a table WITHOUT
    /// ROWID.
    func tellObservers(of table: RecordTable) {
        guard !table.hasRowID, told.insert(table.type.name).inserted else { return }
        // GRDB cannot list the columns of a table with quotation marks in its name.
        try? db.notifyChanges(in: Table(table.type.table))
    }

    /// Returns the text for a record's column `modificationDate`.
    func dateText(of state: RecordState) -> String? { modificationDate.text(of: state) }

    // MARK: Held records

    /// Whether a held record waits for a record of that name, or for rows of that type.
    func isAwaited(_ target: String) throws -> Bool {
        if areAnyWaiting == nil { areAnyWaiting = try HeldReferenceTable.isAny(db) }
        guard areAnyWaiting == true else { return false }
        bindings.begin()
        bindings.append(target)
        return try bindings.findsRow(findWaiting.get())
    }
}

/// The text of `modificationDate`. It keeps the last one, because records that come together mostly share it.
private struct ModificationDate {
    private var milliseconds: Int64?
    private var last: String?

    mutating func text(of state: RecordState) -> String? {
        guard let newest = state.newestWrite?.time.milliseconds else { return nil }
        guard newest != milliseconds else { return last }
        milliseconds = newest
        last = ISO8601.text(milliseconds: newest, fraction: .always)
        return last
    }
}
