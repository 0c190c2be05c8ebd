import GRDB
import PeerSyncModel

/// Writes records that are simply new: the store knows nothing of them, and nothing that it knows affects them.
///
/// A record is simply new when all of this holds: sync does not know its name; nobody ever deleted it; its table has no
/// row of that name and takes all its fields; its targets are in their tables and nobody ever deleted them; no held
/// record waits for it. The merge rules then have nothing to decide: the store keeps the state that came. It writes
/// such a record directly, with statements that it uses again, and does not load it into a ``WorkingSet``. Most of a
/// first sync consists of such records. The same holds for rows that a program wrote here and that the store takes in:
/// only the row is there already.
///
/// The working set takes all other records. Both ways give the same result, in any order, as if the new records had
/// come in an earlier batch.
///
/// Use it within one transaction, and pause the capture triggers while it writes rows. Its cache is valid until
/// somebody else writes in the transaction: call ``forget()`` then.
final class NewRecords {
    /// The most lists of fields per type for which it keeps a statement. It leaves records with other lists to the
    /// working set.
    private static let rememberedLayouts = 64

    private let db: Database
    private let tables: RecordTables
    private let shapes: ShapeTable
    private let zone: Int64
    private let peer: Int64?
    /// The ways to write the rows of a type, by type: one for each list of fields that has come.
    private var layouts: [String: [RowLayout]] = [:]
    /// The layout that was used last.
    private var last: RowLayout?
    private let insertMetadata: Statement
    private let deleteMetadata: Statement
    private let findWaiting: Statement
    private var areAnyWaiting: Bool?
    let sound: SoundRecords
    private var hasher = RecordHasher()
    private var blob: [UInt8] = []
    private var bindings = Bindings()
    private var modificationDate = ModificationDate()

    /// - Parameters:
    ///   - zone: the zone of the records.
    ///   - peer: the peer that sent them; nil for an import.
    init(_ db: Database, _ tables: RecordTables, zone: Int64, peer: Int64?) throws {
        self.db = db
        self.tables = tables
        self.zone = zone
        self.peer = peer
        shapes = ShapeTable(db)
        sound = SoundRecords(db, tables, in: zone)
        insertMetadata = try db.statementToBind(
            """
            INSERT OR IGNORE INTO grdb_sync_remoteRecord (
                zone, status, sourcePeer, changeGroup, changeSequence, remoteRecordID, remoteRecord)
            VALUES (?, 0, ?, ?, ?, ?, ?)
            """)
        deleteMetadata = try db.cachedStatement(
            sql: "DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?")
        findWaiting = try db.statementToBind(HeldReferenceTable.awaits)
    }

    /// Forgets what it has remembered, because somebody else has written in this transaction.
    func forget() {
        sound.forget()
        areAnyWaiting = nil
    }

    /// Writes a record if it is simply new, under the next number.
    ///
    /// - Parameter hashes: the hashes of the state, if the caller has computed them.
    /// - Returns: false when the record is not simply new; it has then written nothing.
    func insert(
        _ state: RecordState, hashes: RecordHashes?, _ numbering: inout ChangeNumbering
    ) throws -> Bool {
        guard let layout = try layout(ofSound: state), layout.takes(state) else { return false }
        let hashes = hashes ?? hasher.hashes(of: state)
        guard try insertMetadata(state, layout, hashes, numbering) else { return false }
        guard try layout.insert(state, modificationDate.text(of: state)) else {
            try deleteMetadata.execute(arguments: [state.name.description])
            // Never uses a statement again after it has failed.
            layouts[layout.type.name] = nil
            last = nil
            return false
        }
        if sound.isTargetMissing {
            try layout.table.delete(db, state.name)
            try deleteMetadata.execute(arguments: [state.name.description])
            return false
        }
        try number(state, layout, hashes, &numbering)
        return true
    }

    /// Takes in a record whose row a program has written, under the next number, if it is otherwise simply new.
    ///
    /// - Parameters:
    ///   - state: the state, with the values of the row.
    ///   - written: the row's `modificationDate`.
    /// - Returns: false when the record is not simply new; it has then written nothing.
    func adopt(
        _ state: RecordState, modificationDate written: String?, _ numbering: inout ChangeNumbering
    ) throws -> Bool {
        guard !state.isTooLarge, let layout = try layout(ofSound: state), !layout.hasUnstoredAssets(state)
        else { return false }
        let hashes = hasher.hashes(of: state)
        guard try insertMetadata(state, layout, hashes, numbering) else { return false }
        let isDateSet = try layout.table.setModificationDate(
            db, of: state.name, to: modificationDate.text(of: state), from: written)
        guard isDateSet else {
            try deleteMetadata.execute(arguments: [state.name.description])
            return false
        }
        try number(state, layout, hashes, &numbering)
        return true
    }

    /// Chooses how to write a record; nil if other records affect it.
    private func layout(ofSound state: RecordState) throws -> RowLayout? {
        guard state.deletion == nil, state.revival == nil, !state.fields.isEmpty,
            let layout = try layout(of: state), try areTargetsSound(state, layout),
            try !isAwaited(state.name.description),
            try layout.table.uniqueIndexes.isEmpty || !isAwaited(layout.type.name)
        else { return nil }
        return layout
    }

    private func number(
        _ state: RecordState, _ layout: RowLayout, _ hashes: RecordHashes, _ numbering: inout ChangeNumbering
    ) throws {
        try numbering.take(hashes.id, in: zone, db)
        guard layout.mayHaveAssets else { return }
        try AssetTable.note(db, state, zone: zone, sequence: numbering.last, hadAny: false)
    }

    /// - Returns: false when sync already knows the name.
    private func insertMetadata(
        _ state: RecordState, _ layout: RowLayout, _ hashes: RecordHashes, _ numbering: ChangeNumbering
    ) throws -> Bool {
        blob.removeAll(keepingCapacity: true)
        RecordMetadata.append(new: state, shapeID: layout.shapeID, valueHash: hashes.valueHash, to: &blob)
        bindings.begin()
        bindings.append(zone)
        bindings.append(peer)
        bindings.append(numbering.group)
        bindings.append(numbering.last + 1)
        bindings.append(state.name.description)
        bindings.append(blob: blob)
        try bindings.execute(insertMetadata)
        return db.changesCount > 0
    }

    private func layout(of state: RecordState) throws -> RowLayout? {
        if let last, last.isLayout(of: state) { return last }
        let type = state.name.recordType
        if let layout = layouts[type]?.first(where: { $0.isLayout(of: state) }) {
            last = layout
            return layout
        }
        guard layouts[type, default: []].count < Self.rememberedLayouts, let table = tables[type],
            state.fields.allSatisfy({ table.hasColumn($0.name) })
        else { return nil }
        let names = state.fields.map(\.name)
        let layout = try RowLayout(
            db, table, fieldNames: names, shapeID: shapes.id(names))
        layouts[type, default: []].append(layout)
        return layout
    }

    /// Whether a held record waits for a record of that name, or for rows of that type.
    private func isAwaited(_ target: String) throws -> Bool {
        if areAnyWaiting == nil {
            areAnyWaiting = try HeldReferenceTable.isAny(db)
        }
        guard areAnyWaiting == true else { return false }
        bindings.begin()
        bindings.append(target)
        return try bindings.findsRow(findWaiting)
    }

    /// Whether every target of a record is in the same zone, in its table, and was never deleted.
    private func areTargetsSound(_ state: RecordState, _ layout: RowLayout) throws -> Bool {
        for reference in layout.references {
            guard let index = reference.index else {
                guard !reference.relationship.isRequired else { return false }
                continue
            }
            switch state.fields[index].value {
            case .null where !reference.relationship.isRequired: continue
            case .reference(let target)
            where try target.isOfType(reference.relationship.target)
                && sound.contains(target):
                continue
            default: return false
            }
        }
        return true
    }
}

/// The way to write records of one type with one list of fields to their table.
private final class RowLayout {
    let table: RecordTable
    var type: RecordType { table.type }
    let shapeID: Int64
    let mayHaveAssets: Bool
    /// The references of the type; `index` is the position of the field in the list of fields that came.
    let references: [(relationship: Relationship, index: Int?)]
    private let fieldNames: [String]
    private let columns: [RecordColumn]
    private let db: Database
    /// Made with the first row. Only a statement with all columns goes to the database's cache, because that cache has
    /// no bound.
    private var statement: Statement?
    private var bindings = Bindings()

    init(
        _ db: Database, _ table: RecordTable, fieldNames: [String], shapeID: Int64
    ) throws {
        self.db = db
        self.table = table
        self.fieldNames = fieldNames
        self.shapeID = shapeID
        columns = fieldNames.map { table.column($0)! }
        mayHaveAssets = columns.contains { $0.field.kind == .asset }
        references = table.type.references.map { ($0, fieldNames.firstIndex(of: $0.field)) }
    }

    private func makeStatement() throws -> Statement {
        let sql = table.insertSQL(columns)
        let isWhole = fieldNames.count == table.fieldNames.count
        return isWhole ? try db.statementToBind(sql) : try db.makeStatementToBind(sql)
    }

    func isLayout(of state: RecordState) -> Bool {
        state.fields.count == fieldNames.count && state.name.isOfType(type.name)
            && zip(state.fields, fieldNames).allSatisfy { $0.name == $1 }
    }

    /// Whether the table can have the row, and each column returns its value unchanged.
    func takes(_ state: RecordState) -> Bool {
        table.canHold(state) && zip(state.fields, columns).allSatisfy { $1.surelyKeeps($0.value) }
    }

    /// Whether a program has written the bytes of a file into a field that should hold a reference to the file.
    func hasUnstoredAssets(_ state: RecordState) -> Bool {
        mayHaveAssets
            && zip(state.fields, columns).contains { field, column in
                if case .blob = field.value { column.field.kind == .asset } else { false }
            }
    }

    /// - Returns: false when a constraint of the table refuses the row, or the table has a row of that name.
    func insert(_ state: RecordState, _ modificationDate: String?) throws -> Bool {
        bindings.begin()
        table.append(state.name, state.fields, columns, modificationDate, to: &bindings)
        let statement = try statement ?? makeStatement()
        self.statement = statement
        return try DatabaseError.catchingConstraint { try bindings.execute(statement) }
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
        last = state.modificationDate
        return last
    }
}
