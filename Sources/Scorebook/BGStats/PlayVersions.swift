import GRDB
import PeerSync

/// A search for the parts that an older version of a play had, and that the newest version in this store lacks.
///
/// A play is one object in BG Stats, with all its players (see ``BGStatsMapping``). All parts of one version carry its
/// date or a later one. So a part belongs to an older version if BG Stats wrote it only before that date. It gets a
/// deletion just before that date, in whatever order the versions are imported.
///
/// BG Stats does not replace a picture, a score of a round or a player that somebody added here by hand. A part that
/// somebody changed here after that date stays too: the change is newer than the deletion.
///
/// Only an import runs this, over what the store has at that time. If one machine has imported the older version and
/// another machine the newer one, both have the parts of both versions after a sync, until either imports the newer
/// file again.
struct PlayVersions {
    private let db: Database
    private let records: RecordStore

    init(_ db: Database, _ records: RecordStore) {
        self.db = db
        self.records = records
    }

    /// Returns deletions of the parts that the matches among `states` no longer have. The store already holds these
    /// states.
    func outdatedParts(of states: [RecordState]) throws -> [RecordState] {
        try states.filter { $0.name.recordType == RecordKind.match.recordType }.flatMap { state in
            guard let version = try records.state(db, of: state.name)?.importedStamp,
                let deletion = Self.replacement(before: version)
            else { return [RecordState]() }
            return try parts(of: state.name).compactMap { name in
                guard let part = try records.state(db, of: name), !part.isDeleted,
                    let imported = part.importedStamp, imported < version
                else { return nil }
                let replaced = RecordState(name: name, deletion: deletion)
                var merged = part
                merged.merge(replaced)
                // A later change that somebody made here wins.
                return merged.isDeleted ? replaced : nil
            }
        }
    }

    /// Returns whether a newer version of its play deleted a record, and not a person.
    static func isOutdatedPart(_ state: RecordState) -> Bool {
        let isPart = ![.person, .game, .match].contains(RecordKind(rawValue: state.name.recordType))
        return isPart && [BGStatsMapping.origin, BGGStamp.origin].contains(state.deletion?.replica)
    }

    /// Returns the stamp that deletes the parts of all versions before this one.
    private static func replacement(before stamp: Stamp) -> Stamp? {
        guard stamp.time.rawValue > 0 else { return nil }
        return Stamp(time: HybridTime(rawValue: stamp.time.rawValue - 1), replica: stamp.replica)
    }

    /// Returns the players, scores, locations and pictures of a match, including those without a row.
    func parts(of match: RecordName) throws -> [RecordName] {
        let inTables = try db.cachedStatement(
            sql: """
                SELECT recordName FROM SBPlayer WHERE match = ?1
                UNION ALL SELECT recordName FROM SBMatchLocation WHERE match = ?1
                UNION ALL SELECT recordName FROM SBMatchImage WHERE match = ?1
                """)
        let scores = try db.cachedStatement(sql: "SELECT recordName FROM SBScore WHERE player = ?")
        let parts =
            try RecordName.fetchAll(inTables, arguments: [match])
            + records.listing.withoutRow(db, referringTo: match)
        let below = try parts.flatMap { part in
            try RecordName.fetchAll(scores, arguments: [part])
                + records.listing.withoutRow(db, referringTo: part)
        }
        return Set(parts + below).sorted()
    }
}

extension RecordState {
    /// The newest stamp of BG Stats on any field. That of a game or person may have moved when it became one with another, see
    /// ``MergedRecords/moved(_:to:)``, and is no new version then.
    fileprivate var importedStamp: Stamp? {
        fields.lazy.filter { !["game", "person"].contains($0.name) }.map(\.stamp)
            .filter { $0.replica == BGStatsMapping.origin }.max()
    }
}
