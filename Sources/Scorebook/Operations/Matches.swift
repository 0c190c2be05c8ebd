import Foundation
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
                recordName: new.recordName ?? .new(.match), game: game,
                date: try new.date.map { try LocalTime.canonical(time.played($0)) }
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
                try Self.insertLocation(db, Bounds.name(location, "location"), of: match.recordName)
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
        let lookup = lookup(.game)
        // “7 Wonders” is a new game beside “7 Wonders Duel”.
        let isRecordName = new.game.contains(RecordName.separator)
        let known = try isRecordName ? lookup.findCertain(db, new.game) : lookup.findNamed(db, new.game)
        if let known { return known }
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

    /// Checks what is new. What was there may come from elsewhere.
    ///
    /// - Parameter old: the match of before; nil for a new one.
    private static func check(_ match: Match, since old: Match? = nil) throws {
        func new<Value: Equatable>(_ field: KeyPath<Match, Value?>) -> Value? {
            match[keyPath: field] == old?[keyPath: field] ? nil : match[keyPath: field]
        }
        try Bounds.whole(new(\.durationMinutes), "duration in minutes", Bounds.minutes)
        try Bounds.whole(new(\.rounds), "number of rounds", Bounds.rounds)
        try Bounds.number(new(\.rating), "rating", Bounds.rating)
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
            if case .set(let date) = edit.date { match.date = try LocalTime.canonical(time.played(date)) }
            edit.durationMinutes.apply(to: &match.durationMinutes)
            edit.rounds.apply(to: &match.rounds)
            edit.notes.apply(to: &match.notes)
            edit.board.apply(to: &match.board)
            edit.rating.apply(to: &match.rating)
            edit.ignored.apply(to: &match.ignored)
            edit.unfinished.apply(to: &match.unfinished)
            try Self.check(match, since: old)
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
            // The one that the sheet shows.
            guard let shown = there.first(where: { $0.name != nil }) ?? there.first else {
                return try insertLocation(db, name, of: match)
            }
            var location = shown
            location.name = name
            try location.updateChanges(db, from: shown)
            for other in there where other.recordName != shown.recordName {
                try records.delete(db, other.recordName)
            }
        }
    }

    /// Writes the place of a match that has none. The match gives its record the name: so two machines that do not see each other write
    /// one record, and the last one wins.
    private static func insertLocation(_ db: Database, _ name: String, of match: RecordName) throws {
        let key = UUID(derivedFrom: "scorebook-peer place 1", match.description)
        try MatchLocation(
            recordName: .named(.matchLocation, key.uuidString.lowercased()), match: match, name: name
        ).insert(db)
    }
}
