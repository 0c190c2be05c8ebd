import GRDB
import PeerSync

extension ScorebookStore {
    /// Returns the persons or games that have a name already, apart from case, so that a caller can ask before it adds another
    /// one.
    public func namesakes(_ kind: RecordKind, _ name: String) async throws -> [RecordChoice.Candidate] {
        let name = name.trimmed.lowercased()
        return try await read { [self] db in
            let titles = try CandidateTitles(db, kind, time)
            return try lookup(kind).names(db).filter { $0.name.lowercased() == name }.map {
                try titles.candidate(db, RecordName($0.recordName), zone: nil)
            }
        }
    }

    /// Returns the persons or games that share a name, apart from case, in groups by name. Two machines that have made one each come
    /// to that. In a group, the one with the most matches comes first.
    ///
    /// - Parameter kind: `person` or `game`.
    public func sharedNames(_ kind: RecordKind) async throws -> [[RecordChoice.Candidate]] {
        try await read { [self] db in
            let groups = Dictionary(grouping: try lookup(kind).names(db)) { $0.name.trimmed.lowercased() }
                .filter { !$0.key.isEmpty && $0.value.count > 1 }
            guard !groups.isEmpty else { return [] }
            let titles = try CandidateTitles(db, kind, time)
            let zones = try ZoneNames(db)
            let matches = try Self.counts(
                db,
                kind == .game
                    ? "SELECT game, COUNT(*) FROM SBMatch GROUP BY game"
                    : "SELECT person, COUNT(DISTINCT match) FROM SBPlayer GROUP BY person")
            func order(_ record: NamedRecord) -> (Int, String) {
                (-(matches[record.recordName] ?? 0), record.recordName)
            }
            return try groups.sorted { $0.key < $1.key }.map { _, records in
                try records.sorted { order($0) < order($1) }.map { record in
                    let zone = zones.areSeveral ? try zones.name(db, of: record.recordName) : nil
                    return try titles.candidate(db, RecordName(record.recordName), zone: zone)
                }
            }
        }
    }
}
