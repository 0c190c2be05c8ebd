import GRDB
import PeerSync

/// What a file of BG Stats changes in a store that may have an earlier one, or the same.
///
/// Mostly the dates of the file decide, see ``BGStatsMapping``. A date that lies ahead of the clock says nothing about what somebody wrote
/// here before: the phone may be in another time zone, or its clock wrong. Such an object is taken as follows, so that nothing is lost
/// here, and a second import changes nothing:
///
/// - It counts as written now, because paired machines would refuse a later date.
/// - Of a record that is here it only changes what comes from BG Stats. What somebody wrote or deleted here stays, but for a player who has
///   left the play.
/// - An object that is here already with the same content changes nothing. A play is one object, with all its parts.
struct BGStatsVersions {
    private let db: Database
    private let records: RecordStore
    private let now: Stamp

    /// - Parameter now: milliseconds since 1970.
    init(_ db: Database, _ records: RecordStore, now: Int64) {
        self.db = db
        self.records = records
        self.now = Stamp(time: HybridTime(milliseconds: now), replica: BGStatsMapping.origin)
    }

    /// Returns what is to be merged into the store, sorted by name.
    func changes(_ states: [RecordState]) throws -> [RecordState] {
        let merged = try [RecordKind.person, .game].map { try MergedRecords(db, $0) }
        let states = try states.map { try MergedRecords.settled($0, merged) }
        let ahead = states.filter(isAhead)
        guard !ahead.isEmpty else { return states }
        let matches = states.reduce(into: [RecordName: RecordName]()) { matches, state in
            matches[state.name] = state.target("match")
        }
        let objects = Dictionary(grouping: ahead) { state in
            state.target("player").flatMap { matches[$0] } ?? matches[state.name] ?? state.name
        }
        return try (states.filter { !isAhead($0) } + objects.values.flatMap(changes(ofObject:)))
            .sorted { $0.name < $1.name }
    }

    /// Whether paired machines would refuse a state.
    private func isAhead(_ state: RecordState) -> Bool {
        guard let newest = state.newestStamp else { return false }
        return newest.time.milliseconds > now.time.milliseconds + BGStatsMapping.allowedSkew
    }

    private func changes(ofObject parts: [RecordState]) throws -> [RecordState] {
        var isChanged = try parts.contains { state in try lacksPart(of: state.name, among: parts) }
        let states = try parts.compactMap { state in
            let change = try change(state)
            isChanged = isChanged || change.isNews
            return change.state
        }
        return isChanged ? states : []
    }

    /// Whether a match has parts here that only BG Stats wrote, and that the file has no more.
    private func lacksPart(of match: RecordName, among states: [RecordState]) throws -> Bool {
        guard match.recordType == RecordKind.match.recordType else { return false }
        let present = Set(states.map(\.name))
        return try PlayVersions(db, records).parts(of: match).contains { name in
            guard !present.contains(name), let part = try records.state(db, of: name) else { return false }
            return part.isLive && part.fields.allSatisfy { $0.stamp.replica == BGStatsMapping.origin }
        }
    }

    /// Returns what an object that lies ahead may change in a record, and whether this is not here yet.
    private func change(_ state: RecordState) throws -> (state: RecordState?, isNews: Bool) {
        let known = try records.state(db, of: state.name)
        let isDeletedThere = known?.deletion?.replica == BGStatsMapping.origin
        if state.deletion != nil { return isDeletedThere ? (nil, false) : (written(state), true) }
        guard let known, !(known.isDeleted && isDeletedThere) else { return (written(state), true) }
        guard !known.isDeleted else { return (nil, false) }
        var isNews = false
        let fields = state.fields.filter { field in
            guard let old = known.field(field.name) else {
                isNews = true
                return true
            }
            guard old.stamp.replica == BGStatsMapping.origin else { return false }
            isNews = isNews || old.value != field.value
            return true
        }
        return (fields.isEmpty ? nil : written(RecordState(name: state.name, fields: fields)), isNews)
    }

    /// Returns a state as written now.
    private func written(_ state: RecordState) -> RecordState {
        RecordState(
            name: state.name,
            fields: state.fields.map {
                RecordField(name: $0.name, value: $0.value, stamp: min($0.stamp, now))
            },
            deletion: state.deletion.map { min($0, now) })
    }
}
