import GRDB
import PeerSync

/// Says in words which records another machine changed.
///
/// What belongs to a match that is new or deleted goes without saying, and so does a match whose game is deleted.
struct ChangeWords {
    /// The maximum number of phrases; more of them nobody reads.
    static let longest = 5

    /// What changed in a match that was there before and still is.
    fileprivate struct MatchChange {
        var title = ""
        /// The persons whose scores changed, in the order in which they came.
        var scored: [String] = []
        var scores = 0
        var fields: [String] = []
        var added: [String] = []
        var removed: [String] = []
        var parts: [String] = []
        var results = 0
        var places = 0
        var pictures = 0
    }

    private let db: Database
    private let titles: RecordTitles
    private let time: LocalTime
    private let changes: ArrivedChanges
    /// The kind of change of each record, by name.
    private let kinds: [RecordName: ArrivedChanges.Kind]

    init(_ db: Database, _ records: RecordStore, _ time: LocalTime, _ changes: ArrivedChanges) {
        self.db = db
        self.time = time
        self.changes = changes
        titles = RecordTitles(db, records)
        kinds = Dictionary(changes.records.map { ($0.name, $0.kind) }, uniquingKeysWith: Self.joined)
    }

    /// What became of a record in two changes, the first one first.
    private static func joined(_ first: ArrivedChanges.Kind, _ then: ArrivedChanges.Kind)
        -> ArrivedChanges.Kind
    {
        first == .added && then == .changed ? .added : first == .removed && then == .added ? .changed : then
    }

    var words: [String] {
        get throws {
            try matchWords(.added) + matchWords(.removed) + partWords() + nameWords(.game)
                + nameWords(.person)
        }
    }

    private func names(_ kind: RecordKind, _ change: ArrivedChanges.Kind) -> [RecordName] {
        kinds.filter { $0.value == change && $0.key.recordType == kind.recordType }.map(\.key).sorted()
    }

    // MARK: Whole matches

    private func matchWords(_ change: ArrivedChanges.Kind) throws -> [String] {
        let names = try names(.match, change).filter { name in
            guard change == .removed else { return true }
            return try titles.target("game", of: name).map { kinds[$0] != .removed } ?? true
        }
        guard let first = names.first else { return [] }
        let adjective = change == .added ? "new" : "deleted"
        guard names.count == 1 else { return [RecordKind.match.counted(names.count, adjective)] }
        guard change == .added, let sheet = try MatchSheet.fetchAll(db, [first]).first else {
            return ["\(try title(ofMatch: first)) deleted"]
        }
        let players = sheet.bySeat.map(\.person).joined(separator: ", ")
        let who = players.isEmpty ? "" : " with \(players)"
        let match = try title(ofMatch: first)
        return [
            Display.printable(
                (try isBack(first) ? "the match \(match) is back" : "the new match \(match)") + who)
        ]
    }

    /// Whether a match was there before: somebody had deleted it, or its game.
    private func isBack(_ match: RecordName) throws -> Bool {
        if try titles.wasDeleted(match) { return true }
        guard let game = try titles.target("game", of: match), kinds[game] == .added else { return false }
        return try titles.wasDeleted(game)
    }

    /// The name of the game, with the day if it was not today.
    private func title(ofMatch name: RecordName) throws -> String {
        let game = try titles.target("game", of: name).flatMap { try titles.title(of: $0) } ?? "a match"
        guard let date = try titles.date(ofMatch: name), time.day("today")?.contains(date.moment) != true
        else { return Display.printable(game) }
        return Display.printable("\(game) of \(time.dayText(date.text))")
    }

    // MARK: Parts of matches

    private func partWords() throws -> [String] {
        var order: [RecordName] = []
        var byMatch: [RecordName: MatchChange] = [:]
        for record in changes.records {
            guard let match = try match(of: record.name), kinds[match] == nil || kinds[match] == .changed
            else { continue }
            if byMatch[match] == nil { order.append(match) }
            try note(record, &byMatch[match, default: MatchChange()])
        }
        return try order.flatMap { name -> [String] in
            guard var change = byMatch[name] else { return [] }
            change.title = try title(ofMatch: name)
            return change.words
        }
    }

    /// The match to which a record belongs; nil for a game and a person, and if the store does not know it.
    private func match(of name: RecordName) throws -> RecordName? {
        switch RecordKind(rawValue: name.recordType) {
        case .match: name
        case .player, .matchLocation, .matchImage: try titles.target("match", of: name)
        case .score:
            try titles.target("player", of: name).flatMap { try titles.target("match", of: $0) }
        case .person, .game, nil: nil
        }
    }

    private func note(_ record: ArrivedChanges.Record, _ change: inout MatchChange) throws {
        switch RecordKind(rawValue: record.name.recordType) {
        case .match: change.fields += record.fields.filter { !change.fields.contains($0) }
        case .matchLocation: change.places += 1
        case .matchImage: change.pictures += 1
        case .score:
            guard let player = try titles.target("player", of: record.name) else { return }
            // The scores of a player who came or went go without saying.
            guard kinds[player] == nil || kinds[player] == .changed, let person = try person(of: player)
            else { return }
            change.scores += 1
            if !change.scored.contains(person) { change.scored.append(person) }
        case .player:
            guard let person = try person(of: record.name) else { return }
            switch kinds[record.name] {
            case .added: change.added.append(person)
            case .removed: change.removed.append(person)
            case .changed where Set(record.fields).isSubset(of: ["winner", "rank"]): change.results += 1
            case .changed: change.parts.append(person)
            case nil: break
            }
        case .person, .game, nil: break
        }
    }

    /// The name of a player; nil if the person is deleted, because that is said then.
    private func person(of player: RecordName) throws -> String? {
        guard let person = try titles.target("person", of: player), kinds[person] != .removed else {
            return nil
        }
        return try titles.title(of: person).map { Display.printable($0) } ?? "somebody"
    }

    // MARK: Games and persons

    private func nameWords(_ kind: RecordKind) throws -> [String] {
        func titled(_ name: RecordName) throws -> String {
            try titles.title(of: name).map { Display.printable($0) } ?? "a \(kind.noun) without a name"
        }
        let added = names(kind, .added)
        let changed = names(kind, .changed)
        let removed = names(kind, .removed)
        let new =
            try added.count == 1
            ? [
                titles.wasDeleted(added[0])
                    ? "\(titled(added[0])) is back" : "the new \(kind.noun) \(titled(added[0]))"
            ]
            : added.isEmpty ? [] : [kind.counted(added.count, "new")]
        return try new
            + changed.map {
                try titles.isMerged($0)
                    ? "two \(kind.noun)s became one, \(titled($0))" : "changes to \(titled($0))"
            }
            + removed.map { "\(try titled($0)) deleted" }
    }
}

extension ChangeWords.MatchChange {
    fileprivate var words: [String] {
        var words: [String] = []
        if scored.count == 1 {
            words.append("\(scored[0])'s score\(scores == 1 ? "" : "s") in \(title)")
        } else if scored.count > 1 {
            words.append("\(RecordKind.score.counted(scores)) in \(title)")
        }
        words +=
            added.map { "\($0) plays in \(title)" }
            + removed.map { "\($0) does not play in \(title) any more" }
        if results > 0 { words.append("who won \(title)") }
        if parts.count == 1 { words.append("\(parts[0])'s part in \(title)") }
        if parts.count > 1 { words.append("the players of \(title)") }
        if places > 0 { words.append("the place of \(title)") }
        if pictures > 0 { words.append("\(pictures == 1 ? "a picture" : "pictures") of \(title)") }
        if !fields.isEmpty { words.append("\(fieldWords) of \(title)") }
        return words
    }

    private var fieldWords: String {
        let names = fields.compactMap { Self.names[$0] }
        guard names.count == fields.count, names.count <= 3 else { return "details" }
        return names.count == 1
            ? names[0] : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
    }

    private static let names = [
        "game": "the game", "date": "the date", "durationMinutes": "the duration",
        "rounds": "the number of rounds",
        "notes": "the notes", "board": "the board", "rating": "the rating", "ignored": "whether to count",
        "unfinished": "the end",
    ]
}
