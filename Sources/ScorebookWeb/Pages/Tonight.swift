import Foundation
import GRDB
import Hummingbird
import PeerSync
import Scorebook

/// The first page, and the way from there to a new match: a game, its players, go.
extension Pages {
    /// How many games and matches the first page offers before “more”.
    private static let offered = 12
    private static let latest = 5

    func addTonight(to router: Router<PageContext>) {
        router.get("/") { _, context in try await tonight(context) }
        router.get("new") { request, context in try await players(request, context) }
        router.post("new") { request, context in
            let form = try await request.decode(as: NewMatchForm.self, context: context)
            return redirect(Self.path(try await add(form)))
        }
    }

    private func tonight(_ context: PageContext) async throws -> Response {
        let unfinished = try await scorebook.unfinishedMatches(limit: Self.offered)
        let open = Set(unfinished.map(\.recordName))
        let matches = try await scorebook.matches(MatchFilter(limit: Self.latest + open.count))
            .filter { !open.contains($0.recordName) }.prefix(Self.latest)
        let games = try await scorebook.recentNames(.game)
        return try render(
            "tonight", title: "Tonight", section: "/",
            [
                "open": [
                    "matches": unfinished.map { Self.line($0, context.reader, isAmongOpen: true) }
                ], "hasOpen": !unfinished.isEmpty,
                "matches": matches.map { Self.line($0, context.reader) },
                "isEmpty": games.isEmpty && matches.isEmpty && unfinished.isEmpty,
                "games": games.prefix(Self.offered).map(Self.gameChoice),
                "more": games.dropFirst(Self.offered).sorted { $0.name.lowercased() < $1.name.lowercased() }
                    .map(Self.gameChoice),
                "hasMore": games.count > Self.offered,
            ], context)
    }

    private static func gameChoice(_ game: (recordName: RecordName, name: String)) -> [String: Any] {
        [
            "path": path("/new", [("game", "\(game.recordName)")]),
            "name": displayName(game.name),
        ]
    }

    private static func choice(_ record: (recordName: RecordName, name: String)) -> [String: Any] {
        ["id": "\(record.recordName)", "name": displayName(record.name)]
    }

    /// The second step: the players of a new match.
    private func players(_ request: Request, _ context: PageContext) async throws -> Response {
        let game = request.query("game") ?? ""
        let isNew = request.query("isNew") != nil
        let known: Game? = isNew ? nil : try await scorebook.record(game)
        let name = isNew ? game.trimmingCharacters(in: .whitespaces) : known?.name ?? ""
        guard !name.isEmpty else { throw PageError(.unprocessableContent, "The game needs a name.") }
        let persons = try await scorebook.recentNames(.person).map(Self.choice)
        let zones = try await scorebook.records.zones.all().map(\.name)
        return try render(
            "players", title: name, section: "/",
            [
                "entry": UUID().uuidString.lowercased(), "game": isNew ? name : game, "isNew": isNew,
                "persons": persons, "isFirst": persons.isEmpty,
                "zones": zones, "hasZones": zones.count > 1,
            ], context)
    }

    /// The form of the second step.
    private struct NewMatchForm: Decodable {
        /// The id that the page gave the match; nil in a form of an older page.
        let entry: UUID?
        /// The record name of a game, or the name of a new one.
        let game: String
        let isNew: String?
        /// How a new game is won.
        let rule: NewMatch.NewGameRule?
        /// The zone of a new game; nil if there is only one.
        let zone: String?
        /// The record names of the players.
        let player: [String]?
        /// The names of further players, separated by commas.
        let others: String?
    }

    /// Adds a match. A form that comes twice leads to the match that it began.
    private func add(_ form: NewMatchForm) async throws -> RecordName {
        let others = (form.others ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        var new = NewMatch(
            game: form.game, players: ((form.player ?? []) + others).map { NewPlayer($0) },
            isUnfinished: true, createsPersons: !others.isEmpty, createsGame: form.isNew != nil)
        new.newGameRule = form.rule ?? .highestScore
        // Whoever goes back and chooses another zone or rule begins another match.
        new.entry = form.entry.map {
            UUID(
                derivedFrom: "scorebook-peer form of a match 1", $0.uuidString, form.zone ?? "",
                form.rule?.rawValue ?? "")
        }
        if let name = new.recordName, try await isKnown(name) {
            if try await goesOn(name) { return name }
            // It is over, or deleted. Whoever begins it again wants one without the scores of that.
            new.entry = nil
        }
        var scorebook = command("match add").scorebook
        if form.isNew != nil, let zone = form.zone {
            var habits = scorebook.habits
            habits.zone = try await scorebook.records.zones.find(named: zone)
            scorebook = scorebook.with(habits)
        }
        do {
            return try await scorebook.addMatch(new).recordName
        } catch {
            // Of two that come at once, the scorebook takes the first one.
            guard let name = new.recordName, try await goesOn(name) else { throw error }
            return name
        }
    }

    private func isKnown(_ match: RecordName) async throws -> Bool {
        try await scorebook.records.database.read { [records = scorebook.records] db in
            try records.state(db, of: match) != nil
        }
    }

    /// Whether a match is there and not finished.
    private func goesOn(_ match: RecordName) async throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM SBMatch WHERE recordName = ? AND unfinished = 1)"
        return try await scorebook.records.database.read {
            try Bool.fetchOne($0, sql: sql, arguments: [match.description])
        } ?? false
    }

    /// A match as lists show it.
    ///
    /// - Parameter isAmongOpen: whether the whole list is of unfinished matches, so that no line has to say it.
    static func line(_ match: MatchListing, _ reader: Reader, isAmongOpen: Bool = false) -> [String: Any] {
        func names(_ names: [String]) -> String {
            names.map { BidiText.isolated(displayName($0)) }.joined(separator: ", ")
        }
        return [
            "path": path(match.recordName), "game": match.game.isEmpty ? "(no game)" : match.game,
            "date": match.date.map(reader.moment).shown,
            "place": match.location.map(BidiText.isolated).shown,
            "isUnfinished": match.isUnfinished && !isAmongOpen, "players": names(match.players),
            "winners": match.winners.isEmpty ? false : names(match.winners) as Any,
        ]
    }
}
