import Foundation
import GRDB
import PeerSyncModel

/// The fuse of a store: ``RecordStore/fuse``. Much that would go at once waits for a person.
///
/// When a peer would delete or overwrite more than a share of a zone's records within an hour, the store keeps these changes
/// and does not merge them; everything else goes on. When programs on this machine do so past the engine, with plain SQL, the
/// store does not send it. In both cases ``alarms(_:)`` lists it until a person decides: ``allow(_:_:)`` or ``refuse(_:_:)``.
///
/// All peers count together, and all programs. Values that the zone did not have, and records that are new, do not count. What
/// an app writes with ``RecordStore/write(_:)`` counts neither: it has asked its user where it has to. Nor does what an opening
/// takes in because the app has changed a table, as in a migration, and what ``StoreUpkeep/repair(_:progress:)`` does.
///
/// What this store does not send is also missing in a whole copy of it: a new peer has such a record only when a person has
/// decided.
///
/// The fuse is off until somebody sets it.
public struct StoreFuse: Sendable {
    /// The time within which changes count together, in milliseconds: an hour.
    public static let window = RecentLosses.window

    let store: RecordStore

    // MARK: The setting

    /// The setting; nil when the fuse is off.
    public func setting(_ db: Database) throws -> FuseSetting? {
        try SyncState.text(db, .fuse).flatMap(FuseSetting.init)
    }

    /// Sets the fuse; nil switches it off. What waits already goes on waiting. Part of the open transaction.
    public func set(_ db: Database, _ setting: FuseSetting?) throws {
        try SyncState.set(db, .fuse, setting?.description ?? "off")
        try Self.addSalt(db)
        try SyncSettings.notify(db)
    }

    /// Draws what goes into the numbers of alarms, once for a store whose fuse was ever set.
    static func addSalt(_ db: Database) throws {
        guard try SyncState.text(db, .fuse) != nil, try SyncState.text(db, .fuseSalt) == nil else { return }
        try SyncState.set(db, .fuseSalt, UUID().uuidString)
    }

    // MARK: What waits

    /// What waits for a person, the oldest first. Fold first.
    public func alarms(_ db: Database) throws -> [FuseAlarm] {
        guard try WithheldRecords.isAny(db) else { return [] }
        let names = try ZoneNames(db)
        let peers = Dictionary(
            try PeerTable.all(db).map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        return try WithheldRecords.sources(db).map { source in
            let waiting = try waiting(db, peer: source.peer, zone: source.zone)
            return FuseAlarm(
                hash: waiting.hash,
                source: source.peer == FuseTables.here ? .programs : .peer(peers[source.peer] ?? ""),
                zone: names.name(row: source.zone), since: source.since, deletedCount: waiting.deletedCount,
                overwrittenCount: waiting.records.count { !$0.isDeleted },
                records: Array(waiting.records.prefix(FuseAlarm.maximumListed)), peer: source.peer,
                zoneRow: source.zone)
        }
    }

    /// What waits of one source in a zone.
    private struct Waiting {
        /// A hash of all of it, and of what would go along.
        let hash: [UInt8]
        let records: [FuseAlarm.Record]
        /// With the records that would go along.
        let deletedCount: Int
    }

    private func waiting(_ db: Database, peer: Int64, zone: Int64) throws -> Waiting {
        let set = WorkingSet(db, store.tables)
        var rules = try RuleApplication(set)
        var gone: Set<RecordName> = []
        var content = "\(try SyncState.text(db, .fuseSalt) ?? "") \(peer) \(zone)"
        let names = try WithheldRecords.names(db, peer: peer, zone: zone)
        let records = try names.map { name in
            let isDeleted = try isDeleted(db, name, peer: peer, in: set)
            content += "\n\(isDeleted) \(name)"
            // What programs write has no state that waits; each of their writes gets a number.
            if peer == FuseTables.here, let number = try set.known(name)?.original?.changeSequence {
                content += " \(number)"
            }
            if isDeleted {
                gone.insert(name)
                for below in try rules.below(name)
                where try peer == FuseTables.here || set.known(below)?.original?.status == .inTable {
                    gone.insert(below)
                }
            }
            return FuseAlarm.Record(name: name, isDeleted: isDeleted)
        }
        for name in gone.sorted() { content += "\n\(name)" }
        var input = Array(content.utf8)
        for state in try WithheldRecords.encodedStates(db, peer: peer, zone: zone) { input += state }
        return Waiting(hash: BLAKE2b.hash(input, length: 32), records: records, deletedCount: gone.count)
    }

    private func isDeleted(
        _ db: Database, _ name: RecordName, peer: Int64, in set: WorkingSet
    ) throws -> Bool {
        guard let record = try set.known(name) else { return false }
        guard peer != FuseTables.here else { return record.original?.status != .inTable }
        var state = record.state
        for entry in try WithheldRecords.entries(db, set.writer.shapes, of: name) where entry.peer == peer {
            state.merge(entry.state)
        }
        return state.isDeleted
    }

    // MARK: Deciding

    /// Lets it happen: merges what a peer has sent, or sends what programs wrote. Part of the open transaction.
    ///
    /// - Throws: ``RecordStoreError`` `zonesChanged` when what waits is not what the alarm lists any more.
    public func allow(_ db: Database, _ alarm: FuseAlarm) throws {
        try checkIsCurrent(db, alarm)
        let names = try WithheldRecords.names(db, peer: alarm.peer, zone: alarm.zoneRow)
        let states = try self.states(db, names, of: alarm)
        try end(db, alarm)
        guard alarm.peer != FuseTables.here else { return try store.refusals.sendAgain(db, names) }
        try merge(db, states, of: alarm)
    }

    /// Puts it back, everywhere. Of a peer: writes the present values anew, so that they win on all machines, and brings back
    /// what the peer took away or overwrote within the hour before. Of programs: brings back what they deleted; what they
    /// overwrote becomes what the other machines have, with the next session of one that has it, and stays until then. Part of the
    /// open transaction.
    ///
    /// - Returns: the records that programs overwrote and that no other machine has. They stay as they are.
    /// - Throws: ``RecordStoreError`` `zonesChanged` when what waits is not what the alarm lists any more.
    @discardableResult
    public func refuse(_ db: Database, _ alarm: FuseAlarm) throws -> [RecordName] {
        try checkIsCurrent(db, alarm)
        guard alarm.peer != FuseTables.here else { return try takeBack(db, alarm) }
        let names = try WithheldRecords.names(db, peer: alarm.peer, zone: alarm.zoneRow)
        let states = try self.states(db, names, of: alarm)
        // The hour before the alarm, however late the person decides.
        let losses = RecentLosses(db: db, zone: alarm.zoneRow, peer: alarm.peer, now: alarm.since)
        try bringBack(db, losses.names(), alarm)
        let kept = try whatStays(db, against: states)
        try end(db, alarm)
        try store.revive(db, kept.revived)
        try store.writeAnew(db, kept.written, zone: Zones.target(db, alarm.zoneRow))
        try merge(db, states, of: alarm)
        return []
    }

    /// Returns what has to be newer than states that wait, so that they take nothing away: the records that they delete, with those that
    /// would go along, and the values that they replace. Whatever else a record has, a third machine may have written anew meanwhile.
    private func whatStays(
        _ db: Database, against states: [RecordState]
    ) throws -> (revived: [RecordName], written: [RecordState]) {
        let set = WorkingSet(db, store.tables)
        var rules = try RuleApplication(set)
        var revived: Set<RecordName> = []
        var written: [RecordState] = []
        for state in states {
            guard let record = try set.known(state.name), record.original?.status == .inTable else {
                continue
            }
            var joined = record.state
            joined.merge(state)
            if joined.isDeleted {
                for name in try rules.below(state.name)
                where try set.known(name)?.original?.status == .inTable { revived.insert(name) }
            }
            let replaced = record.state.fields.filter { joined.field($0.name)?.value != $0.value }
            if !replaced.isEmpty { written.append(RecordState(name: state.name, fields: replaced)) }
        }
        return (revived.sorted(), written)
    }

    /// Folds, and refuses a decision about something that has changed since a person saw it.
    private func checkIsCurrent(_ db: Database, _ alarm: FuseAlarm) throws {
        _ = try store.fold(db)
        guard try waiting(db, peer: alarm.peer, zone: alarm.zoneRow).hash == alarm.hash else {
            throw RecordStoreError(
                .zonesChanged, "what waits has changed since it was listed, or somebody has decided about it")
        }
    }

    private func states(_ db: Database, _ names: [RecordName], of alarm: FuseAlarm) throws -> [RecordState] {
        let shapes = ShapeTable(db)
        return try names.flatMap { name in
            try WithheldRecords.entries(db, shapes, of: name).filter { $0.peer == alarm.peer }.map(\.state)
        }
    }

    private func end(_ db: Database, _ alarm: FuseAlarm) throws {
        try WithheldRecords.remove(db, peer: alarm.peer, zone: alarm.zoneRow)
        try RecentLosses.removeAll(db, zone: alarm.zoneRow)
        try SyncSettings.noteChanged(db)
    }

    private func merge(_ db: Database, _ states: [RecordState], of alarm: FuseAlarm) throws {
        var merge = try StateMerge(
            db, store,
            StateMerge.Arrival(zone: alarm.zoneRow, peer: alarm.peer, isLoose: true, isAllowed: true))
        _ = try merge.run(states)
    }

    /// Restores records that a peer has changed lately.
    private func bringBack(_ db: Database, _ names: [RecordName], _ alarm: FuseAlarm) throws {
        let set = WorkingSet(db, store.tables)
        let records = try names.compactMap { try set.known($0) }
        try store.revive(db, records.filter(\.state.isDeleted).map(\.name))
        let since = alarm.since - Self.window
        let former = try records.compactMap { record in
            let fields = try store.history.valuesBefore(db, record.name, since: since)
            return fields.isEmpty ? nil : RecordState(name: record.name, fields: fields)
        }
        try store.writeAnew(db, former, zone: Zones.target(db, alarm.zoneRow))
    }

    /// Gives the values that programs have written in some records a ``RefusedTime``, so that they lose against whatever a
    /// peer has. Whoever forgot them instead would rely on a peer that may do the same at this moment. What was written since stays.
    private func yield(_ db: Database, _ writes: [RecordState], in zone: Int64) throws {
        guard !writes.isEmpty else { return }
        let now = try store.clock.newStamp(db).time
        let stamp = Stamp(time: RefusedTime.time(at: now), replica: store.replica)
        let set = WorkingSet(db, store.tables)
        for written in writes {
            guard let record = try set.known(written.name) else { continue }
            let fields = record.state.fields.map { field in
                let isRefused = written.field(field.name)?.stamp == field.stamp
                return RecordField(
                    name: field.name, value: field.value, stamp: isRefused ? stamp : field.stamp)
            }
            record.state = RecordState(name: written.name, fields: fields)
        }
        _ = try set.save(generation: store.generation)
        // The peers then send what they have.
        try PeerTable.startOver(db, in: zone)
    }

    /// Takes back what programs wrote.
    private func takeBack(_ db: Database, _ alarm: FuseAlarm) throws -> [RecordName] {
        let names = try WithheldRecords.names(db, peer: FuseTables.here, zone: alarm.zoneRow)
        let set = WorkingSet(db, store.tables)
        let deleted = try names.filter { try set.known($0)?.state.isDeleted == true }
        // Also what is only hidden: a program may have written to it before.
        let overwritten = Set(names).subtracting(deleted).sorted()
        let elsewhere = try overwritten.compactMap {
            try WithheldRecords.unsentWrites(db, set.writer.shapes, of: $0)
        }
        try end(db, alarm)
        try store.revive(db, deleted)
        try yield(db, elsewhere, in: alarm.zoneRow)
        let kept = Set(overwritten).subtracting(elsewhere.map(\.name)).sorted()
        try store.refusals.sendAgain(db, kept)
        return kept
    }
}
