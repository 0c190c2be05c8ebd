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
            var parts: [String] = []
            if name.recordType == RecordKind.person.recordType {
                let matches = Set(
                    try RecordName.fetchAll(
                        db, sql: "SELECT DISTINCT match FROM SBPlayer WHERE person = ?",
                        arguments: [name.description]))
                if !matches.isEmpty {
                    parts.append("the part in \(RecordKind.match.counted(matches.count))")
                }
                parts += [count(.score)].filter { $0 > 0 }.map { RecordKind.score.counted($0) }
            } else {
                parts = [RecordKind.match, .player, .score, .matchLocation, .matchImage]
                    .filter { count($0) > 0 }.map { $0.counted(count($0)) }
            }
            return DeletionSummary(
                title: try RecordTitles(db, records, time).phrase(for: name), companions: parts,
                restorableUntil: now() + StoreUpkeep.defaultRetention)
        }
    }
}
