import GRDB
import PeerSync

/// Games or persons that an import made, and that were in the scorebook already under other record names.
///
/// A game is the same if BoardGameGeek's number is; a person, if the user name there is. Where one of two has neither, the name
/// decides. If several fit, or two persons played in one match, they stay apart: `game merge` and `person merge` are there for
/// that. The program that wrote the file tells its own records apart: of BG Stats, two in one file stay two, so neither becomes one
/// with a record that both fit, or that is one with the other already.
struct ImportedNamesakes {
    private struct Candidate {
        let record: String
        let identity: String?
        let name: String
        var title: String { name.lowercased() }
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
    private let records: RecordStore
    private let kind: RecordKind
    private let new: [Candidate]
    private let old: Index
    /// The records that the file tells apart, by the name of the old one that they fit.
    private let rivals: [String: [Candidate]]
    /// New ones that may become one with each other.
    private let others: Index

    /// - Parameters:
    ///   - zone: where to look.
    ///   - new: the records that the import has made, of any kind.
    ///   - file: the records that the file itself tells apart.
    init(
        _ db: Database, _ records: RecordStore, _ kind: RecordKind, in zone: ZoneScope, new: [RecordName],
        toldApart file: [RecordName]
    ) throws {
        self.db = db
        self.records = records
        let toldApart = Set(file.map(\.description))
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
                name: (String.fromDatabaseValue(row[2]) ?? "").trimmed)
        }
        self.new = candidates.filter { names.contains($0.record) }
        let merged = try MergedRecords(db, kind)
        let taken = Set(toldApart.filter(merged.contains).map(merged.survivor))
        let old = Index(
            candidates.filter {
                !names.contains($0.record) && !toldApart.contains($0.record) && !taken.contains($0.record)
            })
        self.old = old
        others = Index(self.new.filter { !toldApart.contains($0.record) })
        let told = candidates.filter { toldApart.contains($0.record) }
        rivals = Dictionary(
            grouping: told.compactMap { candidate in
                old.namesake(of: candidate, without: []).map { (candidate, $0.record) }
            }, by: \.1
        ).mapValues { $0.map(\.0) }
    }

    /// Whether no other record that the file tells apart from one has the same right to an old one. An identity is more than a name.
    private func isAlone(_ candidate: Candidate, _ old: Candidate) -> Bool {
        let rivals = rivals[old.record] ?? []
        let same = rivals.filter { $0.identity != nil && $0.identity == old.identity }
        return (same.isEmpty ? rivals : same).allSatisfy { $0.record == candidate.record }
    }

    /// Lets each become one with its namesake: with one that was there before, or with another new one.
    ///
    /// - Returns: the new records that went, each with the name of the person or game that is left.
    func join() throws -> [RecordName: String] {
        var gone: [String: String] = [:]
        // Without an identity first: so the one that has more is left.
        for candidate in new.sorted(by: { $0.identity == nil && $1.identity != nil }) {
            guard
                let namesake = old.namesake(of: candidate, without: Set(gone.keys))
                    ?? others.namesake(of: candidate, without: Set(gone.keys)),
                isAlone(candidate, namesake),
                try kind == .game || MergedRecords.sharedMatch(db, candidate.record, namesake.record) == nil
            else { continue }
            try MergedRecords.join(db, kind, candidate.record, into: namesake.record)
            try MergedRecords.settle(
                db, records, MergedRecords.references(db, kind, candidate.record, to: namesake.record))
            gone[candidate.record] = namesake.name
        }
        return try gone.reduce(into: [:]) { $0[try RecordName($1.key)] = $1.value }
    }
}
