import GRDB
import PeerSync

/// The changes of an edit to the players of a match. Each text names a player by the person.
public struct PlayersEdit: Sendable {
    /// Players to add, behind the last seat.
    public var added: [NewPlayer] = []
    /// Players to take out of the match, with their scores.
    public var removed: [String] = []
    /// Players who were somebody else: the one that is there, and the person who really played. Scores and seat stay.
    public var exchanged: [(player: String, person: String)] = []
    /// The winners: players, whose teams win with them, or teams; all others have lost. An empty list: nobody has won. Clearing
    /// leaves it to the scores.
    public var winners: Change<[String]> = .keep
    /// Whether all have won or lost together.
    public var result: Bool?
    /// The player who began.
    public var starter: Change<String> = .keep
    /// The teams of some players; nil or a blank text takes the player out of theirs.
    public var teams: [(player: String, value: String?)] = []
    /// The roles of some players; nil or a blank text takes the role away.
    public var roles: [(player: String, value: String?)] = []
    /// Whether the edit adds unknown players as persons. If not, it refuses them.
    public var createsPersons = false

    /// Makes an edit that changes nothing.
    public init() {}

    /// Whether it changes nothing.
    var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && exchanged.isEmpty && winners == .keep && result == nil
            && starter == .keep
            && teams.isEmpty && roles.isEmpty
    }
}

extension ScorebookStore {
    /// Changes the players of a match. Winners, teams and so on may be players that the same edit adds.
    func edit(_ db: Database, _ edit: PlayersEdit, of match: Match) throws {
        let zone = try scope(db, of: match.recordName)
        var persons = MatchPersons(lookup: lookup(.person, in: zone), createsPersons: edit.createsPersons)
        for text in edit.removed {
            try records.delete(db, player(db, text, of: match.recordName).recordName)
        }
        for (text, person) in edit.exchanged {
            let old = try player(db, text, of: match.recordName)
            var new = old
            new.person = try persons.person(db, person)
            if new.person != old.person {
                try checkIsNotSeated(db, new.person, person, match.recordName)
            }
            try new.updateChanges(db, from: old)
        }
        let seats = "SELECT max(COALESCE(max(seatOrder), 0), COUNT(*)) FROM SBPlayer WHERE match = ?"
        let last = min(
            max(0, try Int.fetchOne(db, sql: seats, arguments: [match.recordName.description]) ?? 0),
            1_000_000)
        for (index, new) in edit.added.enumerated() {
            let person = try persons.person(db, new.person)
            try checkIsNotSeated(db, person, new.person, match.recordName)
            try Self.insert(db, new, person, seat: last + index + 1, match: match)
        }
        guard
            try Player.filter(Column("match") == match.recordName.description).fetchCount(db) > 0
                || edit.isEmpty
        else {
            throw ScorebookError(.invalidValue, "a match needs players", hint: "`match delete` deletes it")
        }
        // New players have no zone before the fold, and would not be found.
        _ = try records.fold(db, newIn: zone.target)
        try editParts(db, edit, of: match.recordName)
    }

    /// Changes what the players of a match have been and done.
    func editParts(_ db: Database, _ edit: PlayersEdit, of match: RecordName) throws {
        var starter: RecordName?
        if case .set(let text) = edit.starter { starter = try player(db, text, of: match).recordName }
        func values(_ texts: [(player: String, value: String?)]) throws -> [RecordName: String?] {
            try Dictionary(
                texts.map { (try player(db, $0.player, of: match).recordName, $0.value?.filled) },
                uniquingKeysWith: { $1 })
        }
        let (teams, roles) = (try values(edit.teams), try values(edit.roles))
        let players = try Player.filter(Column("match") == match.description).fetchAll(db)
        let sides = Dictionary(
            players.map { ($0.recordName, teams[$0.recordName] ?? $0.team?.filled) }, uniquingKeysWith: { $1 }
        )
        let winners = try winners(db, edit.winners, of: match, sides)
        for old in players {
            var new = old
            if let winners { new.winner = winners.contains(old.recordName) }
            if edit.winners == .clear { new.winner = nil }
            if let result = edit.result { new.winner = result }
            // A place that was written down would go on showing the old winner first.
            if new.winner != old.winner, old.rank != nil { new.rank = nil }
            if edit.starter != .keep { new.startPlayer = starter == old.recordName ? true : nil }
            if let team = teams[old.recordName] { new.team = team }
            if let role = roles[old.recordName] { new.role = role }
            try new.updateChanges(db, from: old)
        }
    }

    /// Returns the players who won: those who are named, with their teams, and the teams that are named.
    ///
    /// - Parameter teams: the team of each player.
    /// - Returns: nil if the edit does not say who won.
    private func winners(
        _ db: Database, _ edit: Change<[String]>, of match: RecordName, _ teams: [RecordName: String?]
    ) throws -> Set<RecordName>? {
        guard case .set(let texts) = edit else { return nil }
        func members(_ isMember: (String) -> Bool) -> [RecordName] {
            teams.filter { $0.value.map(isMember) ?? false }.map(\.key)
        }
        return try texts.reduce(into: []) { winners, text in
            let named = members { $0.lowercased() == text.trimmed.lowercased() }
            guard named.isEmpty else { return winners.formUnion(named) }
            let winner = try player(db, text, of: match).recordName
            winners.insert(winner)
            if let team = teams[winner] ?? nil { winners.formUnion(members { $0 == team }) }
        }
    }

    /// - Parameter text: what somebody wrote for the person.
    private func checkIsNotSeated(_ db: Database, _ person: RecordName, _ text: String, _ match: RecordName)
        throws
    {
        guard try Self.isSeated(db, person, match) else { return }
        throw ScorebookError(.invalidValue, "“\(Display.printable(text))” plays in this match already")
    }

    static func isSeated(_ db: Database, _ person: RecordName, _ match: RecordName) throws -> Bool {
        try Player.filter(Column("match") == match.description && Column("person") == person.description)
            .fetchCount(db) > 0
    }
}
