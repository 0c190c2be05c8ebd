import PeerSync

/// The mapping of a BG Stats export to record states, a pure function of the file and the time zone.
///
/// - players become SBPerson, games SBGame, plays SBMatch, playerScores SBPlayer and SBScore. The location of a play
///   becomes SBMatchLocation, one record for each play. Record names have the UUIDs of the file; ``DerivedName`` makes
///   the names of objects without a UUID.
/// - The stamp of every field is the object's own `modificationDate`, under an id that stands for BG Stats and not for
///   this machine. Players, scores and the location of a play carry the play's date. A location carries its own date
///   if that is later: somebody may have corrected its name since. So machines that import the same file hold the same
///   stamps, and of two files the later one wins, in either order.
/// - Dates of the file have no time zone: the app writes what the clock of the phone shows. The mapping takes them as times of the
///   reader's zone, so machines in other zones make other stamps of one file. ``BGStatsVersions`` cares for those ahead of the clock.
/// - A play is one object in BG Stats: a newer version replaces the older one with all its players. Parts that the
///   newer version lacks carry an older date than the match; ``PlayVersions`` finds them in the store.
/// - Zero means unknown for numbers of BoardGameGeek, years, numbers of players, durations, rounds, ratings and ranks,
///   and so does an empty text: these become null. If no seat of a play has a number, the mapping numbers the seats
///   from 1 in the order of the file, as BG Stats does.
/// - `deletedObjects` of plays, players and games become deletions at their own dates.
struct BGStatsMapping {
    /// The replica in the stamps of BG Stats.
    static let origin = ReplicaID(hashing: "BG Stats".utf8)
    /// The time that a date may lie ahead of the clock, in milliseconds. Paired machines allow as much.
    static let allowedSkew = StoreClock.defaultAllowedSkew

    /// The clock that the dates of the file show.
    let clock: LocalTime

    /// - Returns: one state for each record, sorted by name.
    /// - Throws: ``ScorebookError`` `invalidFile` with the place of the first error.
    func states(_ export: BGStatsExport) throws -> [RecordState] {
        var batch = StateBatch()
        let persons = try references(export.players, "players") { $0.id.value }
        let games = try references(export.games, "games") { $0.id.value }
        let locations = try references(export.locations ?? [], "locations") { $0.id.value }
        for (index, player) in export.players.enumerated() {
            try add(player, at: "players[\(index)]", to: &batch)
        }
        for (index, game) in export.games.enumerated() {
            try add(game, at: "games[\(index)]", to: &batch)
        }
        var locationStamps: [Int: Stamp] = [:]
        for (index, location) in (export.locations ?? []).enumerated() {
            locationStamps[location.id.value] = try stamp(
                location.modificationDate, at: "locations[\(index)]")
        }
        for (index, play) in export.plays.enumerated() {
            let place = "plays[\(index)]"
            let match = try name(.match, play.uuid, at: place)
            let written = try stamp(play.modificationDate, at: place)
            let game = try resolve(play.gameRefId.value, games, "game", at: "\(place).gameRefId")
            try add(play, match, written, gameUUID: game.uuid, at: place, to: &batch)
            try addPlayers(of: play, match, written, persons, at: place, to: &batch)
            // Some versions of the app write 0 for no location.
            if let id = play.locationRefId?.value, id != 0 || locations[0] != nil {
                let location = try resolve(id, locations, "location", at: "\(place).locationRefId")
                add(location, of: match, max(written, locationStamps[id] ?? written), to: &batch)
            }
        }
        for (index, object) in (export.deletedObjects ?? []).enumerated() {
            try add(object, at: "deletedObjects[\(index)]", to: &batch)
        }
        return batch.states
    }

    // MARK: Objects

    private func add(_ player: BGStatsExport.Player, at place: String, to batch: inout StateBatch) throws {
        let (first, last) = PersonName.split(player.name)
        batch.add(
            RecordState(
                name: try name(.person, player.uuid, at: place),
                values: [
                    ("firstName", .text(filled: first)), ("lastName", .text(filled: last)),
                    ("bggUsername", .text(filled: player.bggUsername)),
                ], stamp: try stamp(player.modificationDate, at: place)))
    }

    private func add(_ game: BGStatsExport.Game, at place: String, to batch: inout StateBatch) throws {
        batch.add(
            RecordState(
                name: try name(.game, game.uuid, at: place),
                values: [
                    ("name", .text(filled: game.name)), ("bggID", .integer(known: game.bggId)),
                    ("year", .integer(known: game.bggYear)),
                    ("minPlayers", .integer(known: game.minPlayerCount)),
                    ("maxPlayers", .integer(known: game.maxPlayerCount)),
                    ("highestWins", .boolean(game.highestWins)),
                    ("noPoints", .boolean(game.noPoints)), ("cooperative", .boolean(game.cooperative)),
                    ("usesTeams", .boolean(game.usesTeams)),
                ], stamp: try stamp(game.modificationDate, at: place)))
    }

    private func add(
        _ play: BGStatsExport.Play, _ match: RecordName, _ stamp: Stamp, gameUUID: String, at place: String,
        to batch: inout StateBatch
    ) throws {
        batch.add(
            RecordState(
                name: match,
                values: [
                    ("game", .reference(try name(.game, gameUUID, at: place))),
                    ("date", .date(try milliseconds(play.playDate, at: "\(place).playDate"))),
                    ("durationMinutes", .integer(known: play.durationMin)),
                    ("rounds", .integer(known: play.rounds)),
                    ("notes", .text(filled: play.comments)), ("board", .text(filled: play.board)),
                    ("rating", .number(play.rating.flatMap { $0 == 0 ? nil : $0 })),
                    ("ignored", .boolean(play.ignored)),
                ], stamp: stamp))
    }

    private func addPlayers(
        of play: BGStatsExport.Play, _ match: RecordName, _ stamp: Stamp, _ persons: [Int: Reference],
        at place: String, to batch: inout StateBatch
    ) throws {
        let isSeated = play.playerScores.contains { ($0.seatOrder?.value ?? 0) != 0 }
        var times: [String: Int] = [:]
        for (index, player) in play.playerScores.enumerated() {
            let place = "\(place).playerScores[\(index)]"
            let person = try resolve(player.playerRefId.value, persons, "player", at: "\(place).playerRefId")
            let ordinal = times[person.uuid, default: 0]
            times[person.uuid] = ordinal + 1
            let playerName = DerivedName.bgStats.player(
                match: match, personUUID: person.uuid, ordinal: ordinal)
            batch.add(
                RecordState(
                    name: playerName,
                    values: [
                        ("match", .reference(match)),
                        ("person", .reference(try name(.person, person.uuid, at: place))),
                        (
                            "seatOrder",
                            isSeated ? .integer(known: player.seatOrder) : .integer(Int64(index + 1))
                        ),
                        ("team", .text(filled: player.team)), ("role", .text(filled: player.role)),
                        ("rank", .integer(known: player.rank)), ("startPlayer", .boolean(player.startPlayer)),
                        ("newPlayer", .boolean(player.newPlayer)), ("winner", .boolean(player.winner)),
                    ], stamp: stamp))
            guard let written = player.score?.trimmed, !written.isEmpty else { continue }
            let score = ScoreValue(written)
            batch.add(
                RecordState(
                    name: DerivedName.bgStats.score(player: playerName),
                    values: [
                        ("player", .reference(playerName)), ("round", .null),
                        ("points", .number(score.points)),
                        ("text", .text(filled: score.text)),
                    ], stamp: stamp))
        }
    }

    private func add(_ location: Reference, of match: RecordName, _ stamp: Stamp, to batch: inout StateBatch)
    {
        batch.add(
            RecordState(
                name: DerivedName.bgStats.location(match: match),
                values: [("match", .reference(match)), ("name", .text(filled: location.name))], stamp: stamp))
    }

    private func add(_ object: BGStatsExport.DeletedObject, at place: String, to batch: inout StateBatch)
        throws
    {
        let kinds: [String: RecordKind] = ["Play": .match, "Player": .person, "Game": .game]
        guard let kind = kinds[object.objectType] else { return }
        batch.add(
            RecordState(
                name: try name(kind, object.uuid, at: place),
                deletion: try stamp(object.modificationDate, at: place)))
    }

    // MARK: Names, references, dates

    /// The target of references by number.
    private struct Reference {
        let uuid: String
        let name: String
    }

    private func references<Object: BGStatsObject>(
        _ objects: [Object], _ list: String, id: (Object) -> Int
    ) throws -> [Int: Reference] {
        var references: [Int: Reference] = [:]
        for (index, object) in objects.enumerated() {
            let reference = Reference(uuid: object.uuid, name: object.name)
            guard references.updateValue(reference, forKey: id(object)) == nil else {
                throw ImportFileError.at(
                    "\(list)[\(index)].id", "is \(id(object)), which another of the \(list) has too")
            }
        }
        return references
    }

    private func resolve(
        _ id: Int, _ references: [Int: Reference], _ noun: String, at place: String
    ) throws -> Reference {
        guard let reference = references[id] else {
            throw ImportFileError.at(place, "is \(id), but the file has no \(noun) with that id")
        }
        return reference
    }

    private func name(_ kind: RecordKind, _ uuid: String, at place: String) throws -> RecordName {
        do {
            return try RecordName(recordType: kind.recordType, suffix: uuid)
        } catch {
            throw ImportFileError.at(
                "\(place).uuid", "is “\(Display.printable(uuid.prefix(60)))”, which is no UUID")
        }
    }

    private func stamp(_ date: String, at place: String) throws -> Stamp {
        let time = try milliseconds(date, at: "\(place).modificationDate")
        return Stamp(time: HybridTime(milliseconds: time), replica: Self.origin)
    }

    /// Reads a date such as `2015-11-25 10:00:00`.
    private func milliseconds(_ date: String, at place: String) throws -> Int64 {
        let isoText = date.replacing(" ", with: "T", maxReplacements: 1) + "Z"
        guard date.utf8.count == 19, let local = ISO8601.milliseconds(canonical: isoText) else {
            throw ImportFileError.at(
                place, "is “\(Display.printable(date.prefix(60)))”; a date looks like 2015-11-25 10:00:00")
        }
        // The first and the last day that can be written reach beyond in some zones.
        return min(max(clock.utc(local), ISO8601.writable.lowerBound), ISO8601.writable.upperBound)
    }
}

/// An object to which others in the file refer.
private protocol BGStatsObject {
    var uuid: String { get }
    var name: String { get }
}

extension BGStatsExport.Player: BGStatsObject {}
extension BGStatsExport.Game: BGStatsObject {}
extension BGStatsExport.Location: BGStatsObject {}
