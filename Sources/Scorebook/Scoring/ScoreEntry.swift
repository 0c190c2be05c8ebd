import Foundation
import GRDB
import PeerSync

/// Scores that somebody typed at the table, where others may type at the same time and the network may go.
///
/// Whoever types gives the entry an id of its own. So an entry that is sent again, because no answer came, is written once.
public struct ScoreEntry: Sendable {
    /// A new one for each entry; the same one when the entry is sent again.
    public let id: UUID
    /// The match.
    public let match: RecordName
    /// 1 for the first round; nil for scores of the whole match.
    public let round: Int?
    /// What people wrote for the score of each player, by the record name of the player.
    public let values: [RecordName: String]
    /// Whether these scores take the place of others that are there already.
    public let replaces: Bool

    /// Makes an entry; ``ScorebookStore/enter(_:)`` writes it.
    public init(
        id: UUID, match: RecordName, round: Int?, values: [RecordName: String], replaces: Bool = false
    ) {
        self.id = id
        self.match = match
        self.round = round
        self.values = values
        self.replaces = replaces
    }

    /// The name of the score of one player. Another round, or another score, is another name: who goes back in a browser sends the
    /// next round under the same id.
    fileprivate func scoreName(_ player: RecordName, _ typed: String) -> RecordName {
        let key = UUID(
            derivedFrom: "scorebook-peer score entry 2", id.uuidString, player.description,
            round.map { "\($0)" } ?? "", typed)
        return .named(.score, key.uuidString.lowercased())
    }

    /// The name that earlier versions gave the score: an entry that waits in a browser since then may be written already.
    fileprivate func formerScoreName(_ player: RecordName) -> RecordName {
        let key = UUID(derivedFrom: "scorebook-peer score entry 1", id.uuidString, player.description)
        return .named(.score, key.uuidString.lowercased())
    }

    /// The effect of an entry.
    public struct Outcome: Sendable {
        /// A score that was not written, because the player has another one in that round.
        public struct Conflict: Sendable, Equatable {
            /// The record name of the player.
            public let player: RecordName
            /// The person's name.
            public let person: String
            /// The score that is there, as people write it; “7 + 8” if there are several.
            public let present: String
            /// The score of the entry.
            public let typed: String
        }

        /// A score that was not written, because somebody has taken the player out of the match.
        public struct Gone: Sendable, Equatable {
            /// The person's name.
            public let person: String
            /// The score of the entry.
            public let typed: String
        }

        /// The scores that others were faster with.
        public let conflicts: [Conflict]
        /// The scores of those who do not play any more.
        public let gone: [Gone]
    }
}

extension ScorebookStore {
    /// Writes down the scores of an entry. Where a player has a score in that round already, it is left as it is and
    /// returned, unless the entry replaces it or both are equal. Scores of players who have left are returned, too. An entry that comes
    /// again is not written again.
    ///
    /// - Throws: ``ScorebookError``: `notFound` when there is no such match; `invalidValue` for a player of another match,
    ///   a score that looks like a number and is none, and a round far behind the last one. Nothing is written then.
    public func enter(_ entry: ScoreEntry) async throws -> ScoreEntry.Outcome {
        try await write { [self] db in
            let _: Match = try Self.fetch(db, entry.match)
            try Self.checkRound(db, entry.round, entry.match)
            var conflicts: [RecordName: [Score]] = [:]
            var gone: [ScoreEntry.Outcome.Gone] = []
            var values: [RecordName: String] = [:]
            for (field, typed) in entry.values.sorted(by: { $0.key < $1.key }) {
                var player = field
                switch try part(db, field, entry.match) {
                case .present: break
                case .again(let part): player = part
                case .gone(let person):
                    gone.append(.init(person: person, typed: typed))
                    continue
                }
                values[player] = typed
                let part: Player = try Self.fetch(db, player)
                guard part.match == entry.match else {
                    throw ScorebookError(.invalidValue, "\(player) is not a player of \(entry.match)")
                }
                let present = try write(db, entry, player, typed)
                if !present.isEmpty { conflicts[player] = present }
            }
            _ = try records.fold(db, newIn: try scope(db, of: entry.match).target)
            let sheet = try MatchSheet(db, entry.match)
            return ScoreEntry.Outcome(
                conflicts: sheet.bySeat.compactMap { line in
                    conflicts[line.recordName].map {
                        .init(
                            player: line.recordName, person: line.person,
                            present: $0.map { $0.text ?? $0.points.map(MatchSheet.Entry.written) ?? "" }
                                .joined(separator: " + "),
                            typed: values[line.recordName] ?? "")
                    }
                }, gone: gone)
        }
    }

    /// What became of the part of a player for whom somebody has typed a score.
    private enum Part {
        case present
        /// Others have taken the person out of the match, and added the same one again.
        case again(RecordName)
        /// Others have taken the person of this name out of the match.
        case gone(String)
    }

    private func part(_ db: Database, _ player: RecordName, _ match: RecordName) throws -> Part {
        guard player.recordType == RecordKind.player.recordType,
            try records.state(db, of: player) != nil, try !records.listing.isShown(db, player)
        else { return .present }
        let titles = RecordTitles(db, records)
        guard try titles.target("match", of: player) == match else { return .present }
        let person = try titles.target("person", of: player)
        let sql = "SELECT recordName FROM SBPlayer WHERE match = ? AND person = ? ORDER BY recordName LIMIT 1"
        let again = try RecordName.fetchOne(
            db, sql: sql, arguments: [match.description, person?.description])
        if let again { return .again(again) }
        return .gone(try person.flatMap { try titles.title(of: $0) } ?? "")
    }

    /// - Returns: the scores that are there in place of the one to write: several, if machines that did not see each other wrote one
    ///   each. Empty if there is none, if the only one is equal, and if the entry replaces them.
    private func write(
        _ db: Database, _ entry: ScoreEntry, _ player: RecordName, _ typed: String
    ) throws -> [Score] {
        let value = try ScoreValue(typed: typed)
        let name = entry.scoreName(player, typed)
        // It is there, or somebody has taken it back before it came again.
        for known in [name, entry.formerScoreName(player)] {
            guard try records.state(db, of: known) == nil else { return [] }
        }
        let new = Score(
            recordName: name, player: player, round: entry.round, points: value.points, text: value.text)
        let present = try Self.present(db, new)
        if let first = present.first, !entry.replaces {
            let isEqual = present.count == 1 && first.points == new.points && first.text == new.text
            return isEqual ? [] : present
        }
        // The new score has the name of the entry: so it is known when it comes again, whatever somebody has made of it.
        for other in present { try records.delete(db, other.recordName) }
        try new.insert(db)
        return []
    }
}
