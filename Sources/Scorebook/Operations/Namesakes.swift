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
}
