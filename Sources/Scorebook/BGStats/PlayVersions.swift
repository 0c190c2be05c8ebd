import GRDB
import RecordStore
import SyncModel

/// Finds what an older version of a play had, and the newest one that this store knows has not.
///
/// A play is one object in BG Stats, with all its players (see ``BGStatsMapping``). All that comes with one version of it
/// carries the date of that version or a later one. So a part that BG Stats wrote, and only before that date, belongs to an
/// older version. It gets a deletion just before that date, in whatever order the versions are imported.
///
/// A picture, a score of a round or a player that was added here by hand is no part of what BG Stats replaces. A part that
/// was changed here by hand after that date stays as well: the change is newer than the deletion.
///
/// This sees what the store knows when a file is imported. Where one machine has imported the older version and another one
/// the newer, the parts of both are there after a sync, until either of the machines imports the newer file again.
struct PlayVersions {
    private let db: Database
    private let records: RecordStore

    init(_ db: Database, _ records: RecordStore) {
        self.db = db
        self.records = records
    }

    /// The deletions of the parts that the matches among `states` have no more. These states are in the store already.
    func outdatedParts(of states: [RecordState]) throws -> [RecordState] {
        try states.filter { $0.name.recordType == RecordKind.match.recordType }.flatMap { state in
            guard let version = try records.state(db, of: state.name)?.importedStamp,
                let deletion = Self.replacement(before: version)
            else { return [RecordState]() }
            return try parts(of: state.name).compactMap { name in
                guard let part = try records.state(db, of: name), !part.isDeleted,
                    let imported = part.importedStamp, imported < version
                else { return nil }
                // A change that somebody has made here later stays.
                return part.life.map { $0 < deletion } == true
                    ? RecordState(name: name, deletion: deletion) : nil
            }
        }
    }

    /// Whether a record was deleted because a newer version of its play has it no more, not by a person.
    static func isOutdatedPart(_ state: RecordState) -> Bool {
        let isPart = ![.person, .game, .match].contains(RecordKind(rawValue: state.name.recordType))
        return isPart && state.deletion?.replica == BGStatsMapping.origin
    }

    /// The deletion of whatever belonged to a version before this one.
    private static func replacement(before stamp: Stamp) -> Stamp? {
        guard stamp.time.rawValue > 0 else { return nil }
        return Stamp(time: HybridTime(rawValue: stamp.time.rawValue - 1), replica: stamp.replica)
    }

    /// The players, scores, locations and pictures of a match, also while they are out of sight.
    private func parts(of match: RecordName) throws -> [RecordName] {
        let statement = try db.cachedStatement(
            sql: """
                WITH part (name) AS (
                    SELECT recordName FROM SBPlayer WHERE match = ?1
                    UNION SELECT recordName FROM SBMatchLocation WHERE match = ?1
                    UNION SELECT recordName FROM SBMatchImage WHERE match = ?1
                    UNION SELECT recordName FROM heldReference WHERE target = ?1)
                SELECT name FROM part
                UNION SELECT recordName FROM SBScore JOIN part ON player = name
                UNION SELECT recordName FROM heldReference JOIN part ON target = name
                """)
        return try RecordName.fetchAll(statement, arguments: [match])
    }
}

extension RecordState {
    /// The newest stamp that BG Stats has given to one of the fields.
    fileprivate var importedStamp: Stamp? {
        fields.lazy.map(\.stamp).filter { $0.replica == BGStatsMapping.origin }.max()
    }
}
