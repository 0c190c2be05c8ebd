import PeerSync

/// The mapping of a file of BoardGameGeek to record states, a pure function of the file.
///
/// - A game becomes SBGame, a play SBMatch, its players SBPerson, SBPlayer and SBScore, its location SBMatchLocation.
///   ``DerivedName`` makes the names from BoardGameGeek's numbers. A person is known by the user name, without one by the name.
///   Whoever has neither is “Anonymous player”, the second one of a play “Anonymous player 2”: they are two people.
/// - A play that was logged with a quantity becomes as many matches; with the quantity 0 one that is `ignored`. One that does not
///   count in statistics there is `ignored` as well, and an incomplete one is `unfinished`.
/// - A colour that several players of a play share is their team. Otherwise it is the role.
/// - If no player has a position, the mapping numbers the seats in the order of the file.
/// - If nobody won and the scores tell who was best, or if wins do not count, nothing is recorded as won. Otherwise those who did
///   not win have lost.
/// - The stamps come from ``BGGStamp``: the file does not tell when somebody wrote what.
struct BGGMapping {
    private static let names = DerivedName.boardGameGeek

    /// Returns one state for each record, sorted by name. Leaves out what is only wished for.
    func states(_ file: BGGFile) -> [RecordState] {
        var batch = StateBatch()
        switch file {
        case .collection(let entries):
            for entry in entries where entry.isOursOrPlayed {
                batch.add(
                    Self.state(
                        Self.names.game(id: entry.game.id),
                        [
                            ("name", .text(filled: entry.game.name)),
                            ("bggID", .integer(known: entry.game.id)),
                            ("year", .integer(known: entry.game.year)),
                            ("minPlayers", .integer(known: entry.game.minPlayers)),
                            ("maxPlayers", .integer(known: entry.game.maxPlayers)),
                        ]))
            }
        case .plays(let plays):
            for play in plays {
                batch.add(
                    Self.state(
                        Self.names.game(id: play.game.id),
                        [("name", .text(filled: play.game.name)), ("bggID", .integer(known: play.game.id))]))
                for ordinal in 0..<max(1, play.quantity) { add(play, ordinal, to: &batch) }
            }
        }
        return batch.states
    }

    private func add(_ play: BGGPlay, _ ordinal: Int, to batch: inout StateBatch) {
        let match = Self.names.match(id: play.id, ordinal: ordinal)
        batch.add(
            Self.state(
                match,
                [
                    ("game", .reference(Self.names.game(id: play.game.id))),
                    ("date", play.date.map(FieldValue.date) ?? .null),
                    ("durationMinutes", .integer(known: play.minutes / max(1, play.quantity))),
                    ("notes", .text(filled: play.comments)),
                    ("ignored", play.hasNoWins || play.quantity == 0 ? .boolean(true) : .null),
                    ("unfinished", play.isIncomplete ? .boolean(true) : .null),
                ]))
        if let location = play.location {
            batch.add(
                Self.state(
                    Self.names.location(match: match),
                    [("match", .reference(match)), ("name", .text(filled: location))]))
        }
        addPlayers(of: play, match, to: &batch)
    }

    private func addPlayers(of play: BGGPlay, _ match: RecordName, to batch: inout StateBatch) {
        let hasTeams = Dictionary(grouping: play.players.compactMap(\.color), by: \.self).values.contains {
            $0.count > 1
        }
        let winsCount = !play.hasNoWins && !Self.isDecidedByScores(play)
        let seats = play.players.map { player in
            player.startPosition.flatMap { Int($0) }.flatMap { Bounds.players.contains($0) ? $0 : nil }
        }
        let isSeated = seats.contains { $0 != nil }
        var times: [RecordName: Int] = [:]
        var nameless = 0
        for (index, player) in play.players.enumerated() {
            if player.name == nil, player.username == nil { nameless += 1 }
            let person = Self.person(player, nameless: nameless)
            batch.add(person)
            let ordinal = times[person.name, default: 0]
            times[person.name] = ordinal + 1
            let name = Self.names.player(
                match: match, personUUID: String(person.name.suffix), ordinal: ordinal)
            batch.add(
                Self.state(
                    name,
                    [
                        ("match", .reference(match)), ("person", .reference(person.name)),
                        ("seatOrder", .integer(known: isSeated ? seats[index] : index + 1)),
                        ("team", .text(filled: hasTeams ? player.color : nil)),
                        ("role", .text(filled: hasTeams ? nil : player.color)),
                        ("startPlayer", seats[index] == 1 ? .boolean(true) : .null),
                        ("newPlayer", .boolean(player.isNew)),
                        ("winner", .boolean(winsCount ? player.hasWon : nil)),
                    ]))
            guard let written = player.score else { continue }
            let score = ScoreValue(written)
            batch.add(
                Self.state(
                    Self.names.score(player: name),
                    [
                        ("player", .reference(name)), ("round", .null), ("points", .number(score.points)),
                        ("text", .text(filled: score.text)),
                    ]))
        }
    }

    private static func isDecidedByScores(_ play: BGGPlay) -> Bool {
        let points = play.players.compactMap { $0.score.flatMap { ScoreValue($0).points } }
        return play.players.allSatisfy { $0.hasWon != true } && points.count == play.players.count
            && Set(points).count > 1
    }

    /// - Parameter nameless: for a player without a name, which one of them it is: 1 for the first one of the play.
    private static func person(_ player: BGGPlay.Player, nameless: Int) -> RecordState {
        let name =
            player.name ?? player.username ?? "Anonymous player" + (nameless > 1 ? " \(nameless)" : "")
        let (first, last) = PersonName.split(name)
        let record =
            player.username.map { names.person("username", $0.lowercased()) }
            ?? names.person("name", name.lowercased())
        return state(
            record,
            [
                ("firstName", .text(filled: first)), ("lastName", .text(filled: last)),
                ("bggUsername", .text(filled: player.username)),
            ])
    }

    private static func state(_ name: RecordName, _ values: [(field: String, value: FieldValue)])
        -> RecordState
    {
        RecordState(name: name, values: values, stamp: BGGStamp.first(name, values))
    }
}
