import GRDB
import PeerSync

/// What a file of BoardGameGeek changes in a store that may have an earlier one.
///
/// A value that came from BoardGameGeek follows the file. A value that somebody wrote here stays, and so does a deletion that somebody
/// made here. Players, scores and locations that a play no longer has go, unless somebody has written in them.
struct BGGVersions {
    private let db: Database
    private let records: RecordStore
    /// Milliseconds since 1970.
    private let now: Int64

    init(_ db: Database, _ records: RecordStore, now: Int64) {
        self.db = db
        self.records = records
        self.now = now
    }

    /// Returns what is to be merged into the store.
    ///
    /// - Parameter arePlays: whether the states come from plays. Those mention games and persons, and change none that is there:
    ///   a collection may have the game in another language.
    func changes(_ states: [RecordState], arePlays: Bool) throws -> [RecordState] {
        let mentioned = arePlays ? [RecordKind.game.recordType, RecordKind.person.recordType] : []
        let changes = try states.compactMap { state in
            guard let known = try records.state(db, of: state.name) else { return state }
            return mentioned.contains(state.name.recordType) ? nil : change(state, known)
        }
        return changes + (try outdatedParts(of: states))
    }

    private func change(_ state: RecordState, _ known: RecordState) -> RecordState? {
        let stamp = BGGStamp.later(than: known, state.newestWrite, now: now)
        let isBack = known.isDeleted && known.deletion?.replica == BGGStamp.origin
        guard isBack || !known.isDeleted else { return nil }
        let fields = state.fields.filter { field in
            guard !isBack, let old = known.field(field.name) else { return true }
            return old.value != field.value && old.stamp.replica == BGGStamp.origin
        }
        guard !fields.isEmpty else { return nil }
        return RecordState(
            name: state.name,
            fields: fields.map { RecordField(name: $0.name, value: $0.value, stamp: stamp) })
    }

    private func outdatedParts(of states: [RecordState]) throws -> [RecordState] {
        let present = Set(states.map(\.name))
        return try states.filter { $0.name.recordType == RecordKind.match.recordType }.flatMap { match in
            try PlayVersions(db, records).parts(of: match.name).compactMap { name in
                guard !present.contains(name), let part = try records.state(db, of: name), part.isLive,
                    part.fields.allSatisfy({ $0.stamp.replica == BGGStamp.origin })
                else { return nil }
                return RecordState(name: name, deletion: BGGStamp.later(than: part, nil, now: now))
            }
        }
    }
}
