import GRDB
import PeerSyncModel

/// The fast path, for records that are simply new: the store knows nothing of them, and nothing that it knows affects
/// them.
///
/// A record is simply new when all of this holds: sync does not know its name; nobody ever deleted it; its table has no
/// row of that name and takes all its fields; its targets are in their tables and nobody ever deleted them; no held
/// record waits for it; no trigger of the app's changes its row. The merge rules then have nothing to decide: the store keeps the state that came. The same holds
/// for rows that a program wrote here and that the store takes in: only the row is there already.
///
/// A ``WorkingSet`` takes all other records. Both ways give the same result, in any order, as if the new records had
/// come in an earlier batch. Pause the capture triggers while either writes rows.
extension RecordWriter {
    /// Writes a record if it is simply new, under the next number.
    ///
    /// - Parameters:
    ///   - hashes: the hashes of the state, if the caller has computed them.
    ///   - zone: the zone of the record.
    ///   - peer: the peer that sent it; nil for an import.
    /// - Returns: false when the record is not simply new; it has then written nothing.
    func insertIfNew(
        _ state: RecordState, hashes: RecordHashes?, zone: Int64, peer: Int64?,
        _ numbering: inout ChangeNumbering
    ) throws -> Bool {
        guard let layout = try layout(ofNew: state, zone), layout.takes(state) else { return false }
        let hashes = hashes ?? hasher.hashes(of: state)
        let note = Note(new: numbering, zone: zone, source: peer)
        guard try writeNewMetadata(state, layout, hashes, note) else { return false }
        tellObservers(of: layout.table)
        let isWritten = try db.catchingConstraint {
            try layout.insert(state.name, state.fields, dateText(of: state))
        }
        guard isWritten, !sound.isTargetMissing, try !isAltered(state, in: layout.table) else {
            if isWritten { try deleteRow(state.name, in: layout.table) }
            try removeMetadata(state.name)
            return false
        }
        try number(state, layout, hashes, zone, &numbering)
        return true
    }

    /// Takes in a record whose row a program has written, under the next number, if it is otherwise simply new.
    ///
    /// - Parameters:
    ///   - state: the state, with the values of the row.
    ///   - written: the row's `modificationDate`.
    ///   - zone: the zone of the record.
    /// - Returns: false when the record is not simply new; it has then written nothing.
    func adoptIfNew(
        _ state: RecordState, modificationDate written: String?, zone: Int64,
        _ numbering: inout ChangeNumbering
    ) throws -> Bool {
        guard !state.isTooLarge, !state.hasReplacementCharacter,
            let layout = try layout(ofNew: state, zone), !layout.hasUnstoredAssets(state)
        else { return false }
        let hashes = hasher.hashes(of: state)
        let note = Note(new: numbering, zone: zone, source: nil)
        guard try writeNewMetadata(state, layout, hashes, note) else { return false }
        try layout.table.setModificationDate(db, of: state.name, to: dateText(of: state), from: written)
        guard try !isAltered(state, in: layout.table) else {
            try removeMetadata(state.name)
            return false
        }
        try number(state, layout, hashes, zone, &numbering)
        return true
    }

    /// Returns the layout of a record's row; nil if other records affect the record.
    private func layout(ofNew state: RecordState, _ zone: Int64) throws -> RowLayout? {
        guard state.deletion == nil, state.revival == nil, !state.fields.isEmpty,
            let layout = try layout(of: state.name, state.fields),
            try areTargetsSound(state, layout, zone), try !isAwaited(state.name.description),
            try layout.table.uniqueIndexes.isEmpty || !isAwaited(layout.table.type.name)
        else { return nil }
        return layout
    }

    /// Whether every target of a record is in the same zone, in its table, and was never deleted.
    private func areTargetsSound(_ state: RecordState, _ layout: RowLayout, _ zone: Int64) throws -> Bool {
        for reference in layout.references {
            guard let index = reference.index else {
                guard !reference.relationship.isRequired else { return false }
                continue
            }
            switch state.fields[index].value {
            case .null where !reference.relationship.isRequired: continue
            case .reference(let target)
            where try target.isOfType(reference.relationship.target)
                && (sound.areAllSound || sound.contains(target, in: zone)):
                continue
            default: return false
            }
        }
        return true
    }

    /// - Returns: false when sync already knows the name.
    private func writeNewMetadata(
        _ state: RecordState, _ layout: RowLayout, _ hashes: RecordHashes, _ note: Note
    ) throws -> Bool {
        blob.removeAll(keepingCapacity: true)
        RecordMetadata.append(
            state, shapeID: try layout.shapeID(shapes), valueHash: hashes.valueHash, to: &blob)
        return try writeMetadata(state.name, note, blob, replacing: false)
    }

    /// Whether a trigger of the app's has changed a row that this writer has just written, or has removed it.
    private func isAltered(_ state: RecordState, in table: RecordTable) throws -> Bool {
        guard try hasTriggersOfOthers(table) else { return false }
        return try table.alteredFields(db, state, isTriggered: true)?.isEmpty != true
    }

    private func removeMetadata(_ name: RecordName) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?", [name.description])
    }

    private func number(
        _ state: RecordState, _ layout: RowLayout, _ hashes: RecordHashes, _ zone: Int64,
        _ numbering: inout ChangeNumbering
    ) throws {
        try numbering.take(hashes.id, in: zone, db)
        guard layout.mayHaveAssets else { return }
        try AssetTable.note(db, state, zone: zone, sequence: numbering.last, hadAny: false)
    }
}

extension RecordWriter.Note {
    /// Notes a record with a row that gets the next number.
    fileprivate init(new numbering: ChangeNumbering, zone: Int64, source: Int64?) {
        self.init(
            zone: zone, status: .inTable, sequence: numbering.last + 1, group: numbering.group, source: source
        )
    }
}
