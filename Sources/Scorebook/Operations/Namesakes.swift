import GRDB
import PeerSync

extension ScorebookStore {
    /// Returns the persons or games that have a name already, apart from case and accents, so that a caller can ask before
    /// it gives another one the same.
    public func namesakes(_ kind: RecordKind, _ name: String) async throws -> [RecordChoice.Candidate] {
        let name = NameFit.folded(name.trimmed)
        return try await read { [self] db in
            let titles = try CandidateTitles(db, kind, time)
            return try lookup(kind).names(db).filter { NameFit.folded($0.name.trimmed) == name }.map {
                try titles.candidate(db, RecordName($0.recordName), zone: nil)
            }
        }
    }

    /// Returns the persons or games of one zone that share a name, apart from case, in groups by name. Two machines that have made
    /// one each come to that. In a group, the one with the most matches comes first.
    ///
    /// - Parameter kind: `person` or `game`.
    public func sharedNames(_ kind: RecordKind) async throws -> [[RecordChoice.Candidate]] {
        try await read { [self] db in
            let zones = try ZoneNames(db)
            let names = Dictionary(grouping: try lookup(kind).names(db)) { $0.name.trimmed.lowercased() }
                .filter { !$0.key.isEmpty && $0.value.count > 1 }
            let groups = try names.values.flatMap { records in
                try Dictionary(grouping: records) {
                    zones.areSeveral ? try zones.name(db, of: $0.recordName) : ""
                }.values
            }.filter { $0.count > 1 }
            guard !groups.isEmpty else { return [] }
            let titles = try CandidateTitles(db, kind, time)
            let matches = try Self.matchCounts(db, kind)
            func order(_ record: NamedRecord) -> (Int, String) {
                (-(matches[record.recordName] ?? 0), record.recordName)
            }
            return try groups.sorted {
                ($0[0].name.lowercased(), $0[0].recordName) < ($1[0].name.lowercased(), $1[0].recordName)
            }.map { records in
                try records.sorted { order($0) < order($1) }.map { record in
                    let zone = zones.areSeveral ? try zones.name(db, of: record.recordName) : nil
                    return try titles.candidate(db, RecordName(record.recordName), zone: zone)
                }
            }
        }
    }
}
