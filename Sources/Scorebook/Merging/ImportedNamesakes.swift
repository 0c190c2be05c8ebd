import GRDB
import PeerSync

/// Games or persons that an import made, and that were in the scorebook already under other record names.
///
/// A game is the same if BoardGameGeek's number is; a person, if the user name there is. Where one of two has neither, the name
/// decides. If several fit, or two persons played in one match, they stay apart: `game merge` and `person merge` are there for
/// that.
struct ImportedNamesakes {
    private struct Candidate {
        let record: String
        let identity: String?
        let title: String
    }

    /// Records by what they may share with others.
    private struct Index {
        let byIdentity: [String: [Candidate]]
        let byTitle: [String: [Candidate]]

        init(_ candidates: [Candidate]) {
            byIdentity = Dictionary(grouping: candidates.filter { $0.identity != nil }) { $0.identity ?? "" }
            byTitle = Dictionary(grouping: candidates.filter { !$0.title.isEmpty }, by: \.title)
        }

        /// Returns the only one that is the same as a record.
        ///
        /// - Parameter gone: records that became one with others.
        func namesake(of candidate: Candidate, without gone: Set<String>) -> Candidate? {
            let same = candidate.identity.flatMap { byIdentity[$0] } ?? []
            let alike = (byTitle[candidate.title] ?? []).filter {
                $0.identity == nil || candidate.identity == nil
            }
            let fitting = [same, alike].lazy.map { list in
                list.filter { $0.record != candidate.record && !gone.contains($0.record) }
            }.first { !$0.isEmpty }
            return fitting?.count == 1 ? fitting?.first : nil
        }
    }

    private let db: Database
    private let kind: RecordKind
    private let new: [Candidate]
    private let old: Index

    /// - Parameters:
    ///   - zone: where to look.
    ///   - new: the records that the import has made, of any kind.
    init(_ db: Database, _ kind: RecordKind, in zone: ZoneScope, new: [RecordName]) throws {
        self.db = db
        self.kind = kind
        let (identity, title) = kind == .game ? ("bggID", "name") : ("lower(bggUsername)", PersonName.sql)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT recordName, \(identity), \(title) FROM \(kind.recordType)
                WHERE mergedInto IS NULL AND \(zone.contains("recordName")) ORDER BY recordName
                """)
        let names = Set(new.map(\.description))
        let candidates = rows.map { row in
            Candidate(
                record: String.fromDatabaseValue(row[0]) ?? "",
                identity: (row[1] as DatabaseValue).isNull ? nil : "\(row[1] as DatabaseValue)",
                title: (String.fromDatabaseValue(row[2]) ?? "").trimmed.lowercased())
        }
        self.new = candidates.filter { names.contains($0.record) }
        old = Index(candidates.filter { !names.contains($0.record) })
    }

    /// Lets each become one with its namesake: with one that was there before, or with another new one.
    ///
    /// - Returns: the new records that went.
    func join() throws -> [RecordName] {
        var gone: Set<String> = []
        let others = Index(new)
        // Without an identity first: so the one that has more is left.
        for candidate in new.sorted(by: { $0.identity == nil && $1.identity != nil }) {
            guard
                let namesake = old.namesake(of: candidate, without: gone)
                    ?? others.namesake(of: candidate, without: gone),
                try kind == .game || MergedRecords.sharedMatch(db, candidate.record, namesake.record) == nil
            else { continue }
            try MergedRecords.join(db, kind, candidate.record, into: namesake.record)
            try MergedRecords.move(db, kind, candidate.record, to: namesake.record)
            gone.insert(candidate.record)
        }
        return try gone.map { try RecordName($0) }
    }
}
