import GRDB
import PeerSync

/// A match whose scores somebody types, line by line, while it goes on.
///
/// ```swift
/// var keeping = try await scorebook.keepScore(of: "last")
/// print(try await keeping.take("5 8 13"))
/// ```
///
/// Everything typed is in the scorebook at once, so that a pause needs nothing, and other machines see it.
public struct ScoreKeeping: Sendable {
    /// The effect of a line.
    public enum Answer: Sendable {
        /// The scores are written.
        case sheet(MatchSheet)
        /// The scores are taken back, but for those that somebody has changed since.
        case takenBack(MatchSheet, kept: Int)
        /// There was nothing to take back.
        case nothingToUndo
        /// Somebody asked what can be typed.
        case help
        /// Somebody stops, and may go on later. Nothing is written.
        case pause
        /// The match is over, and counts in statistics from now on.
        case end
    }

    private let scorebook: ScorebookStore
    /// The match.
    public let match: RecordName
    /// The names of the players, in the order of their seats; scores without names are theirs in this order.
    public let players: [String]
    private let playerNames: [RecordName]
    /// The lines since the beginning.
    private var entries: [Entry] = []
    /// The round that the next line is for. Scores with names stay in a round until each player has one.
    public private(set) var round: Int

    /// What one line wrote.
    private struct Entry {
        /// The scores as it left them.
        let written: [RecordName: Score]
        /// Those of them that it set anew, as they were.
        let replaced: [RecordName: Score]
        /// The further scores of a round that it deleted.
        let deleted: [RecordName]

        init(_ added: AddedScores) {
            // A line may write one score twice.
            written = Dictionary(added.scores.map { ($0.recordName, $0) }, uniquingKeysWith: { $1 })
            replaced = Dictionary(
                added.replaced.map { ($0.recordName, $0) }, uniquingKeysWith: { first, _ in first })
            deleted = added.deleted
        }
    }

    fileprivate init(_ scorebook: ScorebookStore, _ match: RecordName, _ sheet: MatchSheet, round: Int) {
        let seats = sheet.bySeat
        self.scorebook = scorebook
        self.match = match
        self.round = round
        players = seats.map(\.person)
        playerNames = seats.map(\.recordName)
    }

    /// Takes a line: one score for each player, `-` for none; scores with names, as in `Ada=5`; or one of the words `undo`,
    /// `pause` (also `quit`, `exit` and `q`), `end`, `sheet` and `help`. A number with a colon and a blank before the scores is the
    /// round; `2:30` is a score. After `set`, the scores take the place of those that are there, in the last round if the line names no other.
    ///
    /// - Returns: nil for an empty line.
    /// - Throws: ``ScorebookError``; nothing of the line is written then.
    public mutating func take(_ line: String) async throws -> Answer? {
        var text = line.trimmed
        switch text.lowercased() {
        case "": return nil
        case "undo": return try await undo()
        case "pause", "quit", "exit", "q": return .pause
        case "end":
            try await end()
            return .end
        case "help", "?": return .help
        case "sheet": return .sheet(try await scorebook.matchSheet("\(match)"))
        default: break
        }
        let isSetting = text.lowercased().hasPrefix("set ")
        if isSetting { text = String(text.dropFirst(4)).trimmed }
        let isNamed = text.contains("=")
        let next = try await nextRound()
        var round = isSetting ? max(1, next - 1) : isNamed ? round : next
        if let prefix = text.prefixMatch(of: /([0-9]{1,6}):(?![0-9])/), let number = Int(prefix.1) {
            round = number
            text = String(text[prefix.range.upperBound...])
        }
        let added = try await scorebook.addScores(
            NewScores(
                match: "\(match)", round: .number(round), values: try values(text), replaces: isSetting))
        entries.append(Entry(added))
        if isSetting { return .sheet(added.sheet) }
        let isOpen =
            isNamed && added.sheet.players.contains { line in !line.scores.contains { $0.round == round } }
        self.round = isOpen ? round : try await nextRound()
        return .sheet(added.sheet)
    }

    /// Notes that the match is over. It counts in statistics only then.
    private func end() async throws {
        var edit = MatchEdit()
        edit.unfinished = .clear
        try await scorebook.editMatch("\(match)", edit)
    }

    private func values(_ text: String) throws -> [(String, String)] {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let isNamed = words.contains { $0.contains("=") }
        guard isNamed || words.count == players.count else { throw miscounted(words) }
        let all =
            isNamed ? try words.map(Self.named) : zip(playerNames, words).map { ("\($0)", $1) }
        let values = all.filter { $0.1 != "-" }
        guard !values.isEmpty else { throw ScorebookError(.invalidValue, "the line has no score") }
        return values
    }

    /// Says what is wrong with a line that has not one score for each player.
    private func miscounted(_ words: [String]) -> ScorebookError {
        let word = words.count == 1 ? words[0] : ""
        let each =
            "one for each of \(players.map { Display.printable($0) }.joined(separator: ", ")), and - for none"
        if word.contains(where: \.isLetter), !word.contains(where: \.isNumber) {
            let near = EditDistance.near(word, among: ["undo", "pause", "end", "sheet", "help"])
            return ScorebookError(
                .invalidValue,
                "“\(Display.printable(word))” is neither a score for each player nor a word that is known here",
                hint: near.isEmpty
                    ? "? shows what can be typed" : "did you mean \(near.joined(separator: " or "))?")
        }
        if word.contains(where: { ",;/".contains($0) }),
            word.split(whereSeparator: { ",;/".contains($0) }).count == players.count
        {
            return ScorebookError(
                .invalidValue, "“\(Display.printable(word))” is one word",
                hint: "write blanks between the scores, as in 5 8 13")
        }
        return ScorebookError(
            .invalidValue,
            "there are \(RecordKind.player.counted(players.count)) and \(RecordKind.score.counted(words.count))",
            hint: "write \(each)")
    }

    private static func named(_ word: String) throws -> (String, String) {
        guard let equals = word.lastIndex(of: "="), equals > word.startIndex else {
            throw ScorebookError(
                .invalidValue, "“\(Display.printable(word))” is no score of a player",
                hint: "write it as Ada=5")
        }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    /// Takes back the scores of the last line; before the first line, those of the last round.
    private mutating func undo() async throws -> Answer {
        let (match, last) = (match, entries.popLast())
        let answer: Answer = try await scorebook.write { [records = scorebook.records] db in
            var kept = 0
            if let last {
                kept = try Self.takeBack(db, last, records)
            } else {
                let names = try Self.lastScores(db, match)
                guard !names.isEmpty else { return .nothingToUndo }
                for name in names { try records.delete(db, name) }
            }
            return .takenBack(try MatchSheet(db, match), kept: kept)
        }
        round = try await nextRound()
        return answer
    }

    /// Takes back what a line wrote. What somebody has changed since stays.
    ///
    /// - Returns: how many scores stay.
    private static func takeBack(_ db: Database, _ line: Entry, _ records: RecordStore) throws -> Int {
        // The players whose scores stay: a line has one round.
        var kept: Set<RecordName> = []
        var setBack: Set<RecordName> = []
        for (name, written) in line.written {
            // Somebody may have deleted it since.
            guard let present = try Score.filter(Column("recordName") == name.description).fetchOne(db) else {
                continue
            }
            guard present.equals(written) else {
                kept.insert(present.player)
                continue
            }
            guard let former = line.replaced[name] else {
                try records.delete(db, name)
                continue
            }
            var score = present
            (score.points, score.text) = (former.points, former.text)
            try score.updateChanges(db, from: present)
            setBack.insert(name)
        }
        let positions = Positions(db, records)
        for name in line.deleted {
            guard let state = try records.state(db, of: name), state.isDeleted else { continue }
            let restored = try positions.restore(name, besides: setBack.union(line.deleted))
            if restored == nil, let player = state.target("player") { kept.insert(player) }
        }
        return kept.count
    }

    private static func lastScores(_ db: Database, _ match: RecordName) throws -> [RecordName] {
        let last = try ScorebookStore.lastRound(db, match)
        let sql = """
            SELECT recordName FROM SBScore
            WHERE round IS ? AND player IN (SELECT recordName FROM SBPlayer WHERE match = ?)
            """
        return try RecordName.fetchAll(db, sql: sql, arguments: [last, match.description])
    }

    private func nextRound() async throws -> Int {
        let match = match
        return try await scorebook.read { db in try ScorebookStore.lastRound(db, match) } + 1
    }
}

extension ScorebookStore {
    /// Begins to keep the scores of a match, or goes on with it.
    ///
    /// - Parameter text: names the match.
    public func keepScore(of text: String) async throws -> ScoreKeeping {
        try await read { [self] db in
            let match = try lookup(.match).find(db, text)
            return ScoreKeeping(
                self, match, try MatchSheet(db, match), round: try Self.lastRound(db, match) + 1)
        }
    }
}

extension Score {
    /// Whether another score says the same of the same player.
    fileprivate func equals(_ other: Score) -> Bool {
        player == other.player && round == other.round && points == other.points && text == other.text
    }
}

extension MatchSheet {
    /// The players in the order of their seats.
    public var bySeat: [Line] {
        players.sorted { left, right in
            let (first, second) = (left.seatOrder ?? .max, right.seatOrder ?? .max)
            return first == second ? left.recordName < right.recordName : first < second
        }
    }
}
