import GRDB
import PeerSync

extension ScorebookStore {
    /// Adds a match with its players, scores and location, to the zone of its game.
    ///
    /// - Throws: ``ScorebookError``: `notFound` when there is no such game, or when a player is not in the game's zone
    ///   and ``NewMatch/createsPersons`` is false; `otherZone` for the record name of a person in another zone;
    ///   `invalidValue`. It adds nothing then.
    @discardableResult
    public func addMatch(_ new: NewMatch) async throws -> Match {
        try await write { [self] db in
            let game = try game(db, new)
            let zone = try scope(db, of: game)
            guard !new.players.isEmpty else {
                throw ScorebookError(
                    .invalidValue, "a match needs players", hint: "write their names behind the game")
            }
            let match = Match(
                game: game,
                date: try new.date.map { try LocalTime.canonical(time.moment($0)) }
                    ?? ISO8601.text(milliseconds: now() / 1000 * 1000, fraction: .ifNeeded),
                durationMinutes: new.durationMinutes, rounds: new.rounds,
                notes: new.notes?.filled, board: new.board?.filled, unfinished: new.isUnfinished ? true : nil)
            try Self.check(match)
            try match.insert(db)
            var persons = MatchPersons(lookup: lookup(.person, in: zone), createsPersons: new.createsPersons)
            let winning = Set(new.players.filter { $0.isWinner == true }.compactMap { $0.team?.filled })
            for (index, given) in new.players.enumerated() {
                var player = given
                if player.isWinner == nil, let team = player.team?.filled, winning.contains(team) {
                    player.isWinner = true
                }
                try Self.insert(
                    db, player, try persons.person(db, player.person), seat: index + 1, match: match)
            }
            if let location = new.location {
                try MatchLocation(match: match.recordName, name: Bounds.name(location, "location")).insert(db)
            }
            let added: Match = try settled(db, match.recordName, newIn: zone)
            guard !new.parts.isEmpty else { return added }
            try editParts(db, new.parts, of: match.recordName)
            return try settled(db, match.recordName)
        }
    }

    /// Finds the game of a new match, or adds it.
    private func game(_ db: Database, _ new: NewMatch) throws -> RecordName {
        guard new.createsGame else { return try lookup(.game).find(db, new.game) }
        if let known = try lookup(.game).findCertain(db, new.game) { return known }
        var game = Game(name: try Bounds.name(new.game, "name"))
        switch new.newGameRule {
        case .highestScore: break
        case .lowestScore: game.highestWins = false
        case .noPoints: game.noPoints = true
        case .together: game.cooperative = true
        }
        try game.insert(db)
        // The players have to be in the zone of the game, which has none before the fold.
        let added: Game = try settled(db, game.recordName)
        return added.recordName
    }

    static func insert(
        _ db: Database, _ new: NewPlayer, _ person: RecordName, seat: Int, match: Match
    ) throws {
        guard try !isSeated(db, person, match.recordName) else {
            let twice: Person = try fetch(db, person)
            throw ScorebookError(
                .invalidValue,
                "\(Display.printable(twice.name)) is listed twice among the players of this match")
        }
        let player = Player(
            match: match.recordName, person: person, seatOrder: seat, team: new.team?.filled,
            role: new.role?.filled,
            startPlayer: new.isStarter, winner: new.isWinner)
        try player.insert(db)
        if let score = new.score?.filled {
            let value = try ScoreValue(typed: score)
            try Score(player: player.recordName, points: value.points, text: value.text).insert(db)
        }
    }

    private static func check(_ match: Match) throws {
        try Bounds.whole(match.durationMinutes, "duration in minutes", Bounds.minutes)
        try Bounds.whole(match.rounds, "number of rounds", Bounds.rounds)
        try Bounds.number(match.rating, "rating", Bounds.rating)
    }

    /// Changes a match.
    @discardableResult
    public func editMatch(_ text: String, _ edit: MatchEdit) async throws -> Match {
        try await write { [self] db in
            let name = try lookup(.match).find(db, text)
            var match: Match = try Self.fetch(db, name)
            let old = match
            if let game = edit.game {
                match.game = try lookup(.game, in: scope(db, of: name)).find(db, game)
            }
            edit.date.apply(to: &match.date)
            if case .set(let date) = edit.date { match.date = try LocalTime.canonical(time.moment(date)) }
            edit.durationMinutes.apply(to: &match.durationMinutes)
            edit.rounds.apply(to: &match.rounds)
            edit.notes.apply(to: &match.notes)
            edit.board.apply(to: &match.board)
            edit.rating.apply(to: &match.rating)
            edit.ignored.apply(to: &match.ignored)
            edit.unfinished.apply(to: &match.unfinished)
            try Self.check(match)
            try match.updateChanges(db, from: old)
            try Self.edit(db, edit.location, of: name, records)
            if !edit.players.isEmpty { try self.edit(db, edit.players, of: match) }
            return try settled(db, match.recordName)
        }
    }

    private static func edit(
        _ db: Database, _ location: Change<String>, of match: RecordName, _ records: RecordStore
    ) throws {
        let there = try MatchLocation.filter(Column("match") == match.description).order(Column("recordName"))
            .fetchAll(db)
        switch location {
        case .keep:
            break
        case .clear:
            for location in there { try records.delete(db, location.recordName) }
        case .set(let text):
            let name = try Bounds.name(text, "location")
            guard let first = there.first else {
                try MatchLocation(match: match, name: name).insert(db)
                return
            }
            var location = first
            location.name = name
            try location.updateChanges(db, from: first)
        }
    }
}
