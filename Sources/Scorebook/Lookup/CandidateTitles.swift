import GRDB
import PeerSync

/// Says what tells records of one kind apart.
struct CandidateTitles {
    private let kind: RecordKind
    private let time: LocalTime
    private let ids: ShortIDs
    private let deleted: RecordTitles?

    /// - Parameter deleted: knows the titles of deleted records, if there may be some.
    init(_ db: Database, _ kind: RecordKind, _ time: LocalTime, deleted: RecordTitles? = nil) throws {
        self.kind = kind
        self.deleted = deleted
        self.time = time
        ids = try ShortIDs(db, kind.recordType)
    }

    /// - Parameter zone: the zone of the record, if the records are in several.
    func candidate(_ db: Database, _ name: RecordName, zone: String?) throws -> RecordChoice.Candidate {
        let (title, details) = try words(db, name)
        let parts = details + (zone.map { ["zone \($0)"] } ?? [])
        return RecordChoice.Candidate(
            recordName: name, title: title,
            detail: Display.printable(parts.filter { !$0.isEmpty }.joined(separator: ", ")), id: ids.id(name))
    }

    private func words(_ db: Database, _ name: RecordName) throws -> (String, [String]) {
        if let deleted {
            return (
                try deleted.title(of: name) ?? "",
                [try deleted.deletedPlayers(of: name).joined(separator: ", ")]
            )
        }
        switch kind {
        case .person:
            let matches = try Row.fetchOne(
                db,
                sql: """
                    SELECT COUNT(DISTINCT match), max(CASE typeof(date) WHEN 'text' THEN date END) FROM SBPlayer LEFT JOIN SBMatch ON match = SBMatch.recordName
                    WHERE person = ?
                    """, arguments: [name.description])
            let person = try Person.filter(Column("recordName") == name.description).fetchOne(db)
            let last = (matches?[1] as String?).map { "last on \(time.dayText($0))" } ?? ""
            return (person?.name ?? "", [Self.matches(matches?[0] ?? 0), last])
        case .game:
            let game = try Game.filter(Column("recordName") == name.description).fetchOne(db)
            let matches = try Match.filter(Column("game") == name.description).fetchCount(db)
            return (game?.name ?? "", [game?.year.map(String.init) ?? "", Self.matches(matches)])
        case .match:
            let sheet = try MatchSheet(db, name)
            return (
                [sheet.game, sheet.date.map(time.text)].compactMap(\.self).joined(separator: ", "),
                [sheet.players.map(\.person).joined(separator: ", ")]
            )
        default:
            return ("", [])
        }
    }

    private static func matches(_ count: Int) -> String {
        count == 0 ? "no matches" : count == 1 ? "1 match" : "\(count) matches"
    }
}
