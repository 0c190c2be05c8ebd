import Hummingbird
import PeerSync
import Scorebook

/// The end of a match: who has won, which somebody says where no scores do; and what the page says of it in a sentence.
extension Pages {
    func addEnding(to router: Router<PageContext>) {
        router.post("matches/:id/finish") { request, context in
            let match = try record(.match, context)
            let form = try await request.decode(as: EndForm.self, context: context)
            let (scorebook, run) = command("match edit")
            var edit = MatchEdit()
            edit.unfinished = .clear
            switch form.by {
            case .scores: break
            case .players: edit.players.winners = .set(form.winner ?? [])
            case .won: edit.players.result = true
            case .lost: edit.players.result = false
            }
            try await scorebook.editMatch("\(match)", edit)
            return try await saved(run, at: Self.path(match), .finished)
        }
    }

    private struct EndForm: Decodable {
        enum Decision: String, Decodable {
            /// The scores say who has won.
            case scores
            /// The form names the winners.
            case players
            /// All have won, or lost, together.
            case won, lost
        }

        let by: Decision
        /// The record names of the players who have won.
        let winner: [String]?
    }

    /// What the page of a match asks at its end, and whether it takes scores.
    static func ending(_ sheet: MatchSheet, _ game: Game?) -> [String: Any] {
        let isTogether = game?.cooperative == true
        let isByPlayers = !isTogether && game?.noPoints == true
        let hasScores = sheet.players.contains { !$0.scores.isEmpty }
        return [
            "isTogether": isTogether, "isByPlayers": isByPlayers, "isByScores": !isTogether && !isByPlayers,
            "takesScores": hasScores || game?.noPoints != true,
            "rule": (sheet.isUnfinished ? game.map(rule) : nil).shown,
            "asksTeams": sheet.isUnfinished && game?.usesTeams == true && sheet.players.count > 1,
            "hasTeams": sheet.players.contains { $0.team != nil },
            "teams": sheet.bySeat.enumerated().map { index, line in
                [
                    "index": index, "id": "\(line.recordName)", "name": displayName(line.person),
                    "team": oneLine(line.team),
                ] as [String: Any]
            },
        ]
    }

    /// Who has won or leads, as in “Ada and Alan have won.”; nil while nobody knows it.
    static func verdict(_ sheet: MatchSheet) -> String? {
        switch sheet.result {
        case .won: return "All have won together."
        case .lost: return "All have lost."
        case nil: break
        }
        let first = sheet.bySeat.filter { leads($0, sheet) }.map { BidiText.isolated(displayName($0.person)) }
        guard !first.isEmpty, sheet.players.count > 1 || !sheet.isUnfinished else { return nil }
        let verb =
            switch (sheet.isUnfinished, first.count == 1) {
            case (true, true): "leads"
            case (true, false): "lead"
            case (false, true): "has won"
            case (false, false): "have won"
            }
        return "\(sentence(first) ?? "") \(verb)."
    }

    /// Whether a player has won, or would win if the match were over now.
    static func leads(_ line: MatchSheet.Line, _ sheet: MatchSheet) -> Bool {
        line.winner ?? (sheet.isUnfinished && line.rank == 1)
    }
}
