import GRDB
import PeerSync

/// The positions of which each is for one record: the place of a match, the seat of a person in it, and the score of a player in a round.
///
/// A record that comes back must not stand beside the one that somebody has put there meanwhile: both would count.
struct Positions {
    private static let columns: [RecordKind: [String]] = [
        .matchLocation: ["match"], .player: ["match", "person"], .score: ["player", "round"],
    ]

    private let db: Database
    private let records: RecordStore

    init(_ db: Database, _ records: RecordStore) {
        self.db = db
        self.records = records
    }

    /// The columns that say which position a record has; empty for a record that has none.
    static func columns(of name: RecordName) -> [String] {
        RecordKind(rawValue: name.recordType).flatMap { columns[$0] } ?? []
    }

    /// Brings a deleted record back, unless somebody has filled its position since it went.
    ///
    /// - Parameter own: records that are no obstacle.
    /// - Returns: the records that are shown again; nil if the position is taken.
    func restore(_ name: RecordName, besides own: Set<RecordName>) throws -> [RecordName]? {
        guard !Self.columns(of: name).isEmpty else { return try records.restore(db, name) }
        var restored: [RecordName]?
        try db.inSavepoint {
            let names = try records.restore(db, name)
            guard try rival(ofReturned: names, besides: own) == nil else { return .rollback }
            restored = names
            return .commit
        }
        return restored
    }

    /// Refuses that records have come back into positions that others hold. The caller's transaction is rolled back then.
    ///
    /// A score or place counts even if it was there before: somebody may have set one of two. A person may have had two seats.
    func check(returned names: [RecordName]) throws {
        guard let rival = try rival(ofReturned: names, countsEarlier: true) else { return }
        throw try refusal(rival)
    }

    /// Refuses that a record stands in the position of another one.
    func check(_ name: RecordName) throws {
        guard let rival = try rival(of: name, since: nil) else { return }
        throw try refusal(rival)
    }

    /// Returns a record in the position of one of those that have come back, and that did not come with them.
    ///
    /// - Parameter countsEarlier: whether a score or place counts that nobody has written since the deletion.
    private func rival(
        ofReturned names: [RecordName], besides own: Set<RecordName> = [], countsEarlier: Bool = false
    ) throws -> RecordName? {
        let own = own.union(names)
        for name in names where !Self.columns(of: name).isEmpty {
            // What went with another record comes back as it was.
            guard let state = try records.state(db, of: name), let deletion = state.deletion else { continue }
            let isSeat = name.recordType == RecordKind.player.recordType
            let since = countsEarlier && !isSeat ? nil : deletion
            let merged = isSeat ? try MergedRecords(db, .person) : nil
            if let rival = try rival(of: name, since: since, besides: own, merged) { return rival }
        }
        return nil
    }

    /// Returns another record in the position of one that has a row.
    ///
    /// - Parameters:
    ///   - stamp: counts only what somebody has written since, of a player the seat; nil for everything.
    ///   - merged: tells which persons are one.
    func rival(
        of name: RecordName, since stamp: Stamp?, besides own: Set<RecordName> = [],
        _ merged: MergedRecords? = nil
    ) throws -> RecordName? {
        let seat = name.recordType == RecordKind.player.recordType ? Self.columns(of: name) : nil
        return try others(than: name, merged).first { other in
            guard !own.contains(other) else { return false }
            guard let stamp, let state = try records.state(db, of: other) else { return true }
            return state.fields.contains { $0.stamp > stamp && seat?.contains($0.name) != false }
        }
    }

    private func others(than name: RecordName, _ merged: MergedRecords?) throws -> [RecordName] {
        let columns = Self.columns(of: name)
        guard !columns.isEmpty else { return [] }
        let compared = merged == nil ? columns : columns.filter { $0 != "person" }
        let same = compared.map { "other.\($0) IS own.\($0)" }.joined(separator: " AND ")
        let persons = merged == nil ? "NULL, NULL" : "other.person, own.person"
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT other.recordName, \(persons)
                FROM \(name.recordType) AS own JOIN \(name.recordType) AS other ON \(same)
                WHERE own.recordName = ? AND other.recordName <> own.recordName ORDER BY other.recordName
                """, arguments: [name.description])
        return try rows.filter { row in
            guard let merged, let other = String.fromDatabaseValue(row[1]),
                let own = String.fromDatabaseValue(row[2])
            else { return true }
            return merged.survivor(of: other) == merged.survivor(of: own)
        }.map { try RecordName($0[0]) }
    }

    // MARK: Sentences

    /// Says what is there.
    private func refusal(_ rival: RecordName) throws -> ScorebookError {
        switch RecordKind(rawValue: rival.recordType) {
        case .score:
            let score: Score = try ScorebookStore.fetch(db, rival)
            let points = score.points.map(MatchSheet.Entry.written)
            let value = Display.printable(score.text ?? points ?? "a score")
            let round = score.round.map { "in round \($0)" } ?? "for the whole match"
            return ScorebookError(
                .invalidValue,
                "\(try person(of: score.player)) has \(value) \(round) already; a second score would count, too",
                hint: "change that score, or delete it first")
        case .player:
            return ScorebookError(
                .invalidValue,
                "\(try person(of: rival)) plays in this match already; nobody takes part twice",
                hint: "take that part out of the match first")
        default:
            let place: MatchLocation = try ScorebookStore.fetch(db, rival)
            return ScorebookError(
                .invalidValue,
                "the match has the place “\(Display.printable(place.name ?? ""))” already; it has only one",
                hint: "change that place, or take it away first")
        }
    }

    private func person(of name: RecordName) throws -> String {
        let player: Player = try ScorebookStore.fetch(db, name)
        let person: Person = try ScorebookStore.fetch(db, player.person)
        return Display.printable(person.name)
    }
}
