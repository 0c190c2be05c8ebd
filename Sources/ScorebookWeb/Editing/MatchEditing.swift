import Foundation
import PeerSync
import Scorebook

/// The form for a match and its players. Its fields `player.0`, `player.1` and so on name the players, and the fields with the
/// same number belong to them; so the form means the same players whatever happened to the match meanwhile.
extension Pages {
    /// The names of the fields of one player.
    private static let parts = ["person", "team", "role", "won", "remove"]

    func matchForm(_ name: RecordName) async throws -> EditForm {
        let sheet = try await scorebook.matchSheet("\(name)")
        var values = [
            "game": sheet.game, "date": sheet.date.flatMap(scorebook.time.field) ?? "",
            "place": sheet.location ?? "", "board": sheet.board ?? "",
            "minutes": sheet.durationMinutes.map { "\($0)" } ?? "",
            "rating": sheet.rating.map { MatchSheet.Entry.written($0) } ?? "", "notes": sheet.notes ?? "",
            "unfinished": sheet.isUnfinished ? "1" : "", "ignored": sheet.isIgnored ? "1" : "",
            "result": "", "added": "",
        ]
        for (index, line) in sheet.bySeat.enumerated() {
            values["player.\(index)"] = "\(line.recordName)"
            values["person.\(index)"] = line.person
            values["team.\(index)"] = line.team ?? ""
            values["role.\(index)"] = line.role ?? ""
            values["won.\(index)"] = line.winner == true ? "1" : ""
            values["remove.\(index)"] = ""
        }
        values["starter"] = sheet.bySeat.firstIndex { $0.startPlayer == true }.map { "\($0)" } ?? ""
        return EditForm(showing: values)
    }

    /// Returns the whole form where somebody sent the one for teams alone, which the page of a match has. What they changed is in it,
    /// for those who still play.
    func completed(_ typed: EditForm, _ name: RecordName) async throws -> EditForm {
        guard typed.shown("game") == nil else { return typed }
        var form = try await matchForm(name)
        for index in 0..<typed.count("player") where typed.isChanged("team.\(index)") {
            let players = 0..<form.count("player")
            guard let here = players.first(where: { form["player.\($0)"] == typed["player.\(index)"] })
            else { continue }
            form["team.\(here)"] = typed["team.\(index)"]
        }
        return form
    }

    func matchPage(_ name: RecordName, _ form: EditForm) async throws -> EditPage {
        let sheet = try await scorebook.matchSheet("\(name)")
        let players = 0..<form.count("player")
        var starters = [(value: "", label: "Nobody knows")]
        starters += players.map { ("\($0)", form.shown("person.\($0)") ?? "") }
        return EditPage(
            title: sheet.game.isEmpty ? "the match" : sheet.game,
            fields: [
                EditField(name: "game", label: "Game", kind: .proposed(list: "games")),
                EditField(name: "date", label: "When", kind: .moment),
                EditField(name: "place", label: "Place", kind: .line(maximum: 500)),
                EditField(name: "board", label: "Board or variant", kind: .line(maximum: 500)),
                EditField(
                    name: "minutes", label: "Minutes", kind: .line(maximum: 10, keyboard: "numeric")),
                EditField(
                    name: "rating", label: "How good it was",
                    kind: .line(maximum: 10, keyboard: "decimal"), help: "From 0 to 10"),
                EditField(name: "notes", label: "Notes", kind: .lines),
                EditField(name: "unfinished", label: "It goes on later", kind: .box),
                EditField(name: "ignored", label: "Leave it out of statistics", kind: .box),
            ],
            content: [
                "table": [
                    "players": players.map { Self.playerContent($0, form) },
                    "ends": [
                        EditField(name: "result", label: "Who won", kind: .choice(Self.results)),
                        EditField(name: "starter", label: "Who began", kind: .choice(starters)),
                        EditField(
                            name: "added", label: "More players", kind: .line(maximum: 1000),
                            help: "Names with commas between them. New names become new people."),
                    ].map { $0.content(form) },
                ] as [String: Any],
                "persons": try await scorebook.recentNames(.person).prefix(500).map(\.name).filter {
                    !$0.isEmpty
                },
                "games": try await scorebook.recentNames(.game).prefix(500).map(\.name).filter {
                    !$0.isEmpty
                },
            ])
    }

    private static let results: [(value: String, label: String)] = [
        ("", "Those with a tick"), ("scores", "Whoever the scores say"), ("won", "All together"),
        ("lost", "All have lost"), ("nobody", "Nobody"),
    ]

    private static func playerContent(_ index: Int, _ form: EditForm) -> [String: Any] {
        var content: [String: Any] = ["index": index, "id": form["player.\(index)"]]
        for part in parts {
            let name = "\(part).\(index)"
            content[part] = form[name]
            content["\(part)Was"] = oneLine(form.shown(name))
        }
        content["hasWon"] = form.isTicked("won.\(index)")
        content["isRemoved"] = form.isTicked("remove.\(index)")
        return content
    }

    /// What a browser's field of one line leaves of a text: without the line breaks, what comes back is no change.
    static func oneLine(_ text: String?) -> String {
        (text ?? "").filter { !["\n", "\r", "\r\n"].contains($0) }
    }

    func editMatch(_ name: RecordName, _ form: EditForm) async throws -> UUID {
        let (scorebook, run) = command("match edit")
        var edit = MatchEdit()
        switch form.text("game") {
        case .keep: break
        case .clear: throw PageError(.unprocessableContent, "The match needs a game.")
        case .set(let game): edit.game = game
        }
        edit.date = form.text("date")
        edit.location = form.text("place")
        edit.board = form.text("board")
        edit.notes = form.text("notes")
        edit.durationMinutes = try form.whole("minutes")
        edit.rating = try form.decimal("rating")
        edit.unfinished = form.tick("unfinished")
        edit.ignored = form.tick("ignored")
        edit.players = try Self.players(form)
        try await scorebook.editMatch("\(name)", edit)
        return run
    }

    private static func players(_ form: EditForm) throws -> PlayersEdit {
        var edit = PlayersEdit()
        edit.createsPersons = true
        let all = 0..<form.count("player")
        let staying = all.filter { !form.isTicked("remove.\($0)") }
        func player(_ index: Int) -> String { form["player.\(index)"] }
        edit.removed = all.filter { form.isTicked("remove.\($0)") }.map(player)
        for index in staying {
            switch form.text("person.\(index)") {
            case .keep: break
            case .clear: throw PageError(.unprocessableContent, "Each player needs a name.")
            case .set(let person): edit.exchanged.append((player(index), person))
            }
            for (field, values) in [("team", \PlayersEdit.teams), ("role", \PlayersEdit.roles)] {
                switch form.text("\(field).\(index)") {
                case .keep: break
                case .clear: edit[keyPath: values].append((player(index), nil))
                case .set(let text): edit[keyPath: values].append((player(index), text))
                }
            }
        }
        edit.added = form["added"].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.map { NewPlayer($0) }
        switch form["result"] {
        case "scores": edit.winners = .clear
        case "won": edit.result = true
        case "lost": edit.result = false
        case "nobody": edit.winners = .set([])
        default:
            if staying.contains(where: { form.isChanged("won.\($0)") }) {
                edit.winners = .set(staying.filter { form.isTicked("won.\($0)") }.map(player))
            }
        }
        if form.isChanged("starter") {
            let starter = Int(form["starter"]).flatMap { staying.contains($0) ? player($0) : nil }
            edit.starter = starter.map { .set($0) } ?? .clear
        }
        return edit
    }
}

extension LocalTime {
    /// Returns a date of a record as a browser's field for a day and a time takes it; nil if it is none.
    func field(_ date: String) -> String? {
        let text = text(date)
        // Browsers know no year 0: the field would be empty, and saving would clear the date.
        guard !text.hasPrefix("0000"),
            text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/) != nil
        else { return nil }
        return text.replacing(" ", with: "T")
    }
}
