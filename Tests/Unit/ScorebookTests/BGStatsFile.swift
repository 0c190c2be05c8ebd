import Foundation
import PeerSyncModel
import Scorebook

/// A small file as the BG Stats app exports it, for a test to write.
struct BGStatsFile {
    struct Play {
        var id = 1
        var game = 1
        /// As the clock of the phone shows it.
        var written: String
        var date = "2021-07-01 20:00:00"
        var comments = ""
        /// The numbers of the persons, and their scores; the first one has won.
        var scores: [(person: Int, score: Int)] = [(1, 5), (2, 3)]
    }

    var persons = ["Anna", "Ben", "Cid"]
    var games = ["Skat", "Rummy"]
    /// Further keys of each game.
    var gameKeys: [String: any Sendable] = [:]
    /// When persons and games were written.
    var written = "2021-01-01 10:00:00"
    var plays: [Play] = []

    static func game(_ number: Int) throws -> RecordName { try RecordName("SBGame|~|" + uuid("b", number)) }
    static func person(_ number: Int) throws -> RecordName {
        try RecordName("SBPerson|~|" + uuid("a", number))
    }
    static func match(_ number: Int = 1) throws -> RecordName {
        try RecordName("SBMatch|~|" + uuid("c", number))
    }

    private static func uuid(_ kind: String, _ number: Int) -> String {
        "0000000\(kind)-0000-4000-8000-00000000000\(number)"
    }

    /// The bytes of the file.
    var data: Data {
        get throws {
            let persons = persons.enumerated().map { index, name in
                [
                    "uuid": Self.uuid("a", index + 1), "id": index + 1, "name": name,
                    "modificationDate": written,
                ]
                    as [String: Any]
            }
            let games = games.enumerated().map { index, name in
                ([
                    "uuid": Self.uuid("b", index + 1), "id": index + 1, "name": name,
                    "modificationDate": written,
                ]
                    as [String: Any]).merging(gameKeys) { $1 }
            }
            return try JSONSerialization.data(
                withJSONObject: ["players": persons, "games": games, "plays": plays.map(Self.object)],
                options: .sortedKeys)
        }
    }

    private static func object(_ play: Play) -> [String: Any] {
        [
            "uuid": uuid("c", play.id), "modificationDate": play.written, "playDate": play.date,
            "gameRefId": play.game, "comments": play.comments,
            "playerScores": play.scores.enumerated().map { index, score in
                ["playerRefId": score.person, "score": "\(score.score)", "winner": index == 0]
                    as [String: Any]
            },
        ]
    }
}
