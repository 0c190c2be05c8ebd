import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// Lists of matches, and a match with its sheet, to which everybody at the table adds scores.
extension Pages {
    /// The number of matches on one page of a list.
    private static let pageSize = 50
    /// The number of names that a field offers while somebody types.
    private static let offeredNames = 200

    func addMatches(to router: Router<PageContext>) {
        router.get("matches") { request, context in try await matches(request, context) }
        router.get("matches/:id") { request, context in
            try await match(record(.match, context), request, context)
        }
        router.post("matches/:id/scores") { request, context in
            let form = try await request.decode(as: ScoreForm.self, context: context)
            return try await enter(form, in: record(.match, context), request, context)
        }
    }

    // MARK: Lists

    private func matches(_ request: Request, _ context: PageContext) async throws -> Response {
        let page = Self.pageNumber(request)
        let fields = ["game", "person", "since", "until", "place", "text"].map { ($0, request.query($0)) }
        let asked = Dictionary(uniqueKeysWithValues: fields)
        func value(_ name: String) -> String? { asked[name] ?? nil }
        var filter = MatchFilter(
            game: value("game"), person: value("person"), since: value("since"), until: value("until"),
            place: value("place"), text: value("text"), limit: Self.pageSize + 1)
        filter.offset = (page - 1) * Self.pageSize
        let found = try await scorebook.matches(filter)
        let shown = found.prefix(Self.pageSize)
        let isFiltered = fields.contains { $1 != nil }
        func path(_ page: Int) -> String { Self.path("/matches", fields + [("page", "\(page)")]) }
        var content: [String: Any] = [
            "matches": shown.map { Self.line($0, context.reader) },
            "nothing": shown.isEmpty
                ? (isFiltered ? "No match is like that." : "No matches yet.") : false as Any,
            "isFiltered": isFiltered, "finds": isFiltered || !shown.isEmpty,
            "earlier": found.count > Self.pageSize ? path(page + 1) : false as Any,
            "later": page > 1 ? path(page - 1) : false as Any,
            "games": try await scorebook.names(.game).prefix(Self.offeredNames).map(\.name),
            "persons": try await scorebook.names(.person).prefix(Self.offeredNames).map(\.name),
        ]
        for (name, value) in fields { content[name] = value ?? "" }
        // Links name records, which say nothing to people.
        if let text = value("game") {
            let game: Game = try await scorebook.record(text)
            content["game"] = game.name ?? ""
        }
        if let text = value("person") {
            let person: Person = try await scorebook.record(text)
            content["person"] = person.name
        }
        return try render("matches", title: "Matches", section: "/matches", content, context)
    }

    // MARK: A match

    private func match(_ name: RecordName, _ request: Request, _ context: PageContext) async throws
        -> Response
    {
        let sheet = try await scorebook.matchSheet("\(name)")
        var content = Self.content(sheet, context.reader)
        content["sheet"] = Self.table(sheet, context.reader)
        content["ending"] = Self.ending(sheet, try? await scorebook.record("\(sheet.gameRecord)"))
        content["pictures"] = try await pictures(of: name, Self.title(sheet))
        return try render("match", title: Self.title(sheet), section: "/matches", content, context)
    }

    private static func title(_ sheet: MatchSheet) -> String { sheet.game.isEmpty ? "(no game)" : sheet.game }

    private static func content(_ sheet: MatchSheet, _ reader: Reader) -> [String: Any] {
        let round = sheet.nextRound
        return [
            "path": path(sheet.recordName), "game": title(sheet), "gamePath": path(sheet.gameRecord),
            "date": sheet.date.map(reader.moment).shown, "place": sheet.location.shown,
            "board": sheet.board.shown, "notes": sheet.notes.shown,
            "minutes": sheet.durationMinutes.map(reader.number).shown,
            "rounds": rounds(sheet, reader).shown,
            "rating": sheet.rating.map { "\(reader.points($0))/10" }.shown, "isIgnored": sheet.isIgnored,
            "verdict": verdict(sheet).shown, "isUnfinished": sheet.isUnfinished,
            "entry": UUID().uuidString.lowercased(), "round": round.shown,
            "fields": sheet.bySeat.map { line in
                [
                    "id": "\(line.recordName)", "name": displayName(line.person),
                    "value": line.scores.first { $0.round == round }?.written ?? "",
                ] as [String: Any]
            },
        ]
    }

    /// How many rounds there were, unless the table shows them.
    private static func rounds(_ sheet: MatchSheet, _ reader: Reader) -> String? {
        guard let rounds = sheet.rounds, rounds > 0,
            !sheet.players.contains(where: { $0.scores.contains { $0.round != nil } })
        else { return nil }
        return rounds == 1 ? "1 round" : "\(reader.number(rounds)) rounds"
    }

    /// The sheet as a table: a column for each player in the order of the seats, a row for each round.
    private static func table(_ sheet: MatchSheet, _ reader: Reader) -> [String: Any] {
        let seats = sheet.bySeat
        let rounds = Set(seats.flatMap { $0.scores.compactMap(\.round) }).sorted()
        let hasOthers = seats.contains { $0.scores.contains { $0.round == nil } }
        func cells(_ round: Int?) -> [[String: Any]] {
            seats.map { line in
                [
                    "text": line.scores.filter { $0.round == round }
                        .map { $0.text ?? $0.points.map(reader.points) ?? "" }.joined(separator: " + ")
                ]
            }
        }
        var rows = rounds.map { ["name": "\($0)", "cells": cells($0)] as [String: Any] }
        if hasOthers { rows.append(["name": rounds.isEmpty ? "Score" : "Other", "cells": cells(nil)]) }
        let hasScores = seats.contains { !$0.scores.isEmpty }
        return [
            "players": seats.map { line in
                [
                    "name": displayName(line.person), "path": path(line.personRecord),
                    "team": line.team.shown,
                    "role": line.role.shown, "began": line.startPlayer == true, "leads": leads(line, sheet),
                ] as [String: Any]
            },
            "rows": rows, "hasScores": hasScores,
            "totals": seats.map { line in
                [
                    "text": line.total.map(reader.points) ?? "", "leads": leads(line, sheet),
                    "place": line.rank.map { "\($0)." } ?? "",
                ] as [String: Any]
            },
        ]
    }

    // MARK: Scores

    /// The form for the scores of one round.
    private struct ScoreForm: Decodable {
        /// The id that a page, or the script, gave the entry.
        let entry: UUID
        /// 1 for the first round; nil for scores of the whole match.
        let round: Int?
        /// What somebody typed, by the record name of the player.
        let score: [String: String]
        /// Whether these scores take the place of others.
        let replaces: String?
    }

    /// What the script is told of scores that it sent.
    private struct ScoreAnswer: Encodable {
        struct Conflict: Encodable {
            let player: String
            let name: String
            let present: String
            let typed: String
        }

        struct Gone: Encodable {
            let name: String
            let typed: String
        }

        let conflicts: [Conflict]
        /// The scores of those who do not play any more.
        let gone: [Gone]
        /// By which the entry is taken back; nil if there is nothing to take back.
        let run: UUID?
    }

    private func enter(
        _ form: ScoreForm, in match: RecordName, _ request: Request, _ context: PageContext
    ) async throws -> Response {
        var values: [RecordName: String] = [:]
        for (player, text) in form.score where !text.trimmingCharacters(in: .whitespaces).isEmpty {
            guard let name = try? RecordName(player) else {
                throw PageError(.unprocessableContent, "A player of this form is none.")
            }
            values[name] = text
        }
        // The script sends an entry until it has the answer. Whenever that comes, the entry can be taken back.
        let (scorebook, run) = command("score add", run: request.wantsJSON ? form.entry : UUID())
        let outcome = try await scorebook.enter(
            ScoreEntry(
                id: form.entry, match: match, round: form.round, values: values,
                replaces: form.replaces != nil))
        let isWhole = outcome.conflicts.isEmpty && outcome.gone.isEmpty
        if request.wantsJSON {
            return try json(
                ScoreAnswer(
                    conflicts: outcome.conflicts.map {
                        .init(
                            player: "\($0.player)", name: Self.displayName($0.person), present: $0.present,
                            typed: $0.typed)
                    }, gone: outcome.gone.map { .init(name: Self.displayName($0.person), typed: $0.typed) },
                    run: try await scorebook.hasWritten("\(run)") ? run : nil),
                isWhole ? .ok : .conflict)
        }
        guard !isWhole else { return try await saved(run, at: Self.path(match)) }
        return try conflictPage(outcome, form, match, context)
    }

    /// Says what was not written, and asks about the scores that others were faster with.
    private func conflictPage(
        _ outcome: ScoreEntry.Outcome, _ form: ScoreForm, _ match: RecordName, _ context: PageContext
    ) throws -> Response {
        let isDisputed = !outcome.conflicts.isEmpty
        return try render(
            "conflict", title: isDisputed ? "Who is right?" : "Not all is written", section: "/matches",
            [
                "path": Self.path(match), "round": form.round.shown, "entry": UUID().uuidString.lowercased(),
                "gone": outcome.gone.map {
                    ["name": BidiText.isolated(Self.displayName($0.person)), "typed": $0.typed]
                }, "isDisputed": isDisputed,
                "conflicts": outcome.conflicts.map { conflict in
                    [
                        "id": "\(conflict.player)", "name": Self.displayName(conflict.person),
                        "present": conflict.present,
                        "typed": conflict.typed,
                    ]
                },
            ], context, .conflict)
    }
}
