import GRDB
import PeerSync

extension NameLookup {
    /// The maximum number of records in a sentence.
    private static let listed = 5
    /// The maximum number of records among which a person chooses.
    private static let choosable = 20

    static let zoneRule = "a match, its game and its players are in one zone"

    /// Returns the error for a text that fits several records.
    func severalFit(_ db: Database, _ text: String, _ records: [NamedRecord]) throws -> ScorebookError {
        let names = records.map(\.recordName)
        let zones = try ZoneNames(db)
        let areApart = Set(try names.map { try zones.name(db, of: $0) }).count > 1
        let titles = try CandidateTitles(db, kind, time, deleted: titles)
        let candidates = try names.prefix(Self.choosable).map { name in
            try titles.candidate(db, RecordName(name), zone: areApart ? zones.name(db, of: name) : nil)
        }
        let list = candidates.prefix(Self.listed).map(\.text).joined(separator: ", ")
        let more = names.count > Self.listed ? " and \(names.count - Self.listed) more" : ""
        return ScorebookError(
            .ambiguous,
            "“\(Display.printable(text))” fits several: \(list)\(more)",
            hint: "give the id of one" + (areApart ? ", or its zone with --zone" : ""),
            choice: RecordChoice(
                question: RecordChoice.Question(kind: kind, text: text.trimmed), candidates: candidates,
                count: names.count))
    }

    /// Returns the error for a text that fits nothing, with the names that are near.
    func notFound(_ db: Database, _ text: String) throws -> ScorebookError {
        let zones = try ZoneNames(db)
        guard case .one(let zone) = scope, zones.areSeveral else { return try notFound(db, text, "") }
        guard let name = try? of(in: .all).find(db, text) else {
            return try notFound(db, text, " in the zone “\(zone.name)”")
        }
        let other = try zones.name(db, of: name.description)
        return ScorebookError(
            .notFound,
            "“\(Display.printable(text))” is in the zone “\(other)”, not in “\(zone.name)”; \(Self.zoneRule)")
    }

    private func notFound(_ db: Database, _ text: String, _ place: String) throws -> ScorebookError {
        let what = "“\(Display.printable(text))”\(place)"
        let near = try nearNames(db, text)
        let listing =
            text.trimmed.wholeMatch(of: /[0-9]{1,5}/) == nil
            ? "`\(kind.listCommand)` shows those there are"
            : "a number is one of the list that was shown last in this terminal, so run `\(kind.listCommand)` first"
        let hint = near.isEmpty ? listing : "did you mean \(near.joined(separator: " or "))?"
        return switch kind {
        case .person, .game: ScorebookError(.notFound, "there is no \(kind.noun) \(what)", hint: hint)
        case .match:
            ScorebookError(
                .notFound, "there is no match \(what)",
                hint: try hasNone(db)
                    ? "there are no matches yet; `match add` and `play` begin one"
                    : near.isEmpty && text.contains(where: { !$0.isNumber })
                        ? "name it as last, yesterday, Hearts@2024-12-25, by the game, or by an id of `match list`"
                        : hint)
        default:
            ScorebookError(.notFound, "there is no \(kind.noun) with the id \(what)", hint: listing)
        }
    }

    private func hasNone(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(kind.recordType))") == true
    }

    /// Returns the names that a typing error may have led away from, the nearest first.
    private func nearNames(_ db: Database, _ text: String) throws -> [String] {
        let fit = NameFit(kind == .match ? String(text.prefix { $0 != "@" }) : text)
        let names = try (kind == .match ? of(.game) : self).names(db)
        let near = names.compactMap { record in fit.nearness(record.name).map { (record.name, $0) } }
            // Whoever wrote a name without an error did not mean another one.
            .filter { $0.1 > 0 }
        let nearest = near.map(\.1).min()
        return Set(near.filter { $0.1 == nearest }.map { Display.printable($0.0) }).sorted().prefix(3).map(
            \.self)
    }
}

extension RecordKind {
    /// The command that lists records of this kind.
    fileprivate var listCommand: String {
        switch self {
        case .person, .game, .match, .score: "\(noun) list"
        case .matchImage: "image list"
        case .player, .matchLocation: "record list --type \(recordType)"
        }
    }
}
