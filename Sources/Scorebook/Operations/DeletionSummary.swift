import GRDB
import PeerSync

/// What a deletion takes along, for people.
public struct DeletionSummary: Sendable, Equatable {
    /// The record, as in “Grace Hopper” or “the match Hearts, 2026-11-21 20:15”.
    public let title: String
    /// The parts that go with it, as in “5 matches with this player”; empty if there are none.
    public let companions: [String]
    /// Until when it can be restored for certain, in milliseconds since 1970.
    public let restorableUntil: Int64
}

extension ScorebookStore {
    /// Says what the deletion of a record takes along.
    public func deletionSummary(_ name: RecordName) async throws -> DeletionSummary {
        try await read { [self] db in
            let names = try records.deletionSteps(db, name).filter { $0.action == .delete && $0.name != name }
                .map(\.name)
            let counts = Dictionary(grouping: names, by: \.recordType).mapValues(\.count)
            func count(_ kind: RecordKind) -> Int { counts[kind.recordType] ?? 0 }
            let title =
                try RecordTitles(db, records).title(of: name).map { Display.printable($0) }
                ?? name.description
            var parts: [String] = []
            if name.recordType == RecordKind.person.recordType {
                let matches = Set(
                    try RecordName.fetchAll(
                        db, sql: "SELECT DISTINCT match FROM SBPlayer WHERE person = ?",
                        arguments: [name.description]))
                if !matches.isEmpty {
                    parts.append("the part in \(matches.count) match\(matches.count == 1 ? "" : "es")")
                }
                parts += Self.counted([(count(.score), "score")])
            } else {
                parts = Self.counted([
                    (count(.match), "match"), (count(.player), "player"), (count(.score), "score"),
                    (count(.matchLocation), "place"), (count(.matchImage), "picture"),
                ])
            }
            let kind = RecordKind(rawValue: name.recordType)
            let isTitled = kind == .person || kind == .game
            return DeletionSummary(
                title: isTitled
                    ? title
                    : kind == .match
                        ? "the match \(try MatchSheet(db, name).shortTitle(time))"
                        : "the \(kind?.noun ?? "record") \(title)",
                companions: parts, restorableUntil: now() + StoreUpkeep.defaultRetention)
        }
    }

    private static func counted(_ counts: [(Int, String)]) -> [String] {
        counts.filter { $0.0 > 0 }.map { count, noun in
            count == 1 ? "1 \(noun)" : "\(count) \(noun == "match" ? "matches" : noun + "s")"
        }
    }
}
