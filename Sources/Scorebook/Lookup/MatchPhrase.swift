import GRDB
import PeerSync

/// What people say for a match: `last`, `yesterday`, `2024-12-25`, `Hearts@last`, `Hearts@2024-12-25 20:15`, or the game
/// alone if it was played once.
extension NameLookup {
    /// Returns the matches that a phrase names, the latest first; nil for a text that is none.
    ///
    /// - Throws: what ``find(_:_:)`` throws for a game before an `@`.
    func phrase(_ db: Database, _ text: String) throws -> [NamedRecord]? {
        if text.lowercased() == "last" { return try matches(db, limit: 1) }
        if let day = time.day(text) { return try matches(db, in: day) }
        guard let at = text.lastIndex(of: "@") else { return nil }
        let when = String(text[text.index(after: at)...]).trimmed
        let game = try of(.game).find(db, String(text[..<at]))
        if when.lowercased() == "last" { return try matches(db, of: game, limit: 1) }
        if let day = time.day(when) { return try matches(db, of: game, in: day) }
        let moment = try time.moment(when)
        return try matches(db, of: game, in: moment..<(moment + 60_000))
    }

    /// Returns the matches of the game that a text names; nothing if it names no game.
    func matches(_ db: Database, ofGame text: String) throws -> [NamedRecord] {
        guard let game = try of(.game).findIfThere(db, text) else { return [] }
        return try matches(db, of: game)
    }

    private func matches(
        _ db: Database, of game: RecordName? = nil, in time: Range<Int64>? = nil, limit: Int? = nil
    ) throws -> [NamedRecord] {
        var request = Match.latestFirst.filter(sql: limits())
        if let game { request = request.filter(Column("game") == game.description) }
        if let time {
            request = request.filter(
                Column("date") >= (try LocalTime.canonical(time.lowerBound))
                    && Column("date") < (try LocalTime.canonical(time.upperBound)))
        }
        if let limit { request = request.limit(limit) }
        return try request.select(Column("recordName"), as: String.self).fetchAll(db)
            .map { NamedRecord(recordName: $0, name: "") }
    }
}

extension Match {
    /// The order of lists.
    static var latestFirst: QueryInterfaceRequest<Match> {
        order(Column("date").desc, Column("recordName").desc)
    }
}
