import GRDB
import PeerSync

/// What a file of BoardGameGeek changes in a store that may have an earlier one.
///
/// A value that came from BoardGameGeek follows the file. A value that somebody wrote here stays, and so does a deletion that somebody
/// made here. Players, scores and locations that a play no longer has go, unless somebody has written in them; a player who stays
/// keeps the score. So do the matches of an entry that stands for fewer plays, unless somebody has written in one of their parts. That a person or game became one with another is no change of what BoardGameGeek wrote, see
/// ``MergedRecords/settle(_:_:_:)``.
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
    /// Plays mention games and persons, and change none that is there: a collection may have the game in another language.
    ///
    /// - Parameter plays: the plays of which the states come; none for those of a collection.
    func changes(_ states: [RecordState], plays: [BGGPlay]) throws -> [RecordState] {
        let mentioned = plays.isEmpty ? [] : [RecordKind.game.recordType, RecordKind.person.recordType]
        let merged = try [RecordKind.person, .game].map { try MergedRecords(db, $0) }
        let changes = try states.compactMap { state in
            let state = try MergedRecords.settled(state, merged)
            guard let known = try records.state(db, of: state.name) else { return state }
            return mentioned.contains(state.name.recordType) ? nil : change(state, known)
        }
        return try changes + outdatedParts(of: states) + surplusMatches(of: plays, states)
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
            let parts = try PlayVersions(db, records).parts(of: match.name).compactMap { name in
                present.contains(name) ? nil : try records.state(db, of: name)
            }.filter(\.isLive)
            let staying = Set(parts.filter { !Self.isUntouched($0) }.map(\.name))
            return parts.filter { part in
                // The score of a player who stays.
                if let player = part.target("player"), staying.contains(player) { return false }
                return !staying.contains(part.name)
            }.map { RecordState(name: $0.name, deletion: BGGStamp.later(than: $0, nil, now: now)) }
        }
    }

    /// Returns deletions of the matches that an entry made when it stood for more plays.
    private func surplusMatches(of plays: [BGGPlay], _ states: [RecordState]) throws -> [RecordState] {
        let present = Set(states.map(\.name))
        return try plays.flatMap { play in
            var surplus: [RecordState] = []
            for ordinal in max(1, play.quantity)..<BGGPlay.mostPlays {
                let name = DerivedName.boardGameGeek.match(id: play.id, ordinal: ordinal)
                // An entry makes its matches in order.
                guard let match = try records.state(db, of: name) else { break }
                let parts = try PlayVersions(db, records).parts(of: name).compactMap {
                    try records.state(db, of: $0)
                }
                guard match.isLive, !present.contains(name), ([match] + parts).allSatisfy(Self.isUntouched)
                else { continue }
                surplus.append(
                    RecordState(name: name, deletion: BGGStamp.later(than: match, nil, now: now)))
            }
            return surplus
        }
    }

    /// Whether nobody but BoardGameGeek has written in a record, deleted or restored it.
    private static func isUntouched(_ state: RecordState) -> Bool {
        (state.fields.map(\.stamp) + [state.deletion, state.revival].compactMap(\.self))
            .allSatisfy { $0.replica == BGGStamp.origin }
    }
}
