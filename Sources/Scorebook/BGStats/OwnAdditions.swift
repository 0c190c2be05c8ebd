import GRDB
import RecordStore
import SyncModel

/// Spares what people have added to an imported match when a newer version of its play arrives.
///
/// The newer version replaces the older one with all its players (see ``BGStatsMapping``). A picture, a score
/// of a round or a player that was added here by hand is no part of what BG Stats replaces. Each such record
/// gets the play's stamp as a revival: it counts as needed at that moment, and so outlives the replacement.
/// Records that have anything from BG Stats in them are part of the play.
///
/// This holds for what this store knows when it imports. An addition on another machine that has not arrived
/// here is older than the replacement when the two meet, and goes with it.
struct OwnAdditions {
    let records: RecordStore

    /// The states that spare the additions to those matches among `states` that are about to be replaced.
    func spared(_ db: Database, from states: [RecordState]) throws -> [RecordState] {
        var spared: [RecordState] = []
        for state in states where state.name.recordType == RecordKind.match.recordType {
            guard let replacement = state.deletion, let stamp = state.newestWrite,
                let known = try records.state(db, of: state.name), !known.isDeleted,
                known.deletion.map({ $0 < replacement }) ?? true
            else { continue }
            for name in try parts(db, of: state.name) {
                guard let part = try records.state(db, of: name), isOwn(part),
                    let newest = part.newestWrite, newest <= replacement
                else { continue }
                spared.append(RecordState(name: name, revival: stamp))
            }
        }
        return spared
    }

    private func isOwn(_ state: RecordState) -> Bool {
        state.fields.allSatisfy { $0.stamp.replica != BGStatsMapping.origin }
    }

    private func parts(_ db: Database, of match: RecordName) throws -> [RecordName] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT recordName FROM SBPlayer WHERE match = ?1
                UNION ALL SELECT recordName FROM SBMatchLocation WHERE match = ?1
                UNION ALL SELECT recordName FROM SBMatchImage WHERE match = ?1
                UNION ALL SELECT SBScore.recordName FROM SBScore
                    JOIN SBPlayer ON SBPlayer.recordName = SBScore.player WHERE SBPlayer.match = ?1
                """)
        return try RecordName.fetchAll(statement, arguments: [match])
    }
}
