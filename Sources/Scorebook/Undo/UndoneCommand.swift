import GRDB
import PeerSync

/// A command that was taken back.
public struct UndoneCommand: Sendable, Equatable, Encodable {
    /// The command, as in `match edit`.
    public let command: String
    /// When it wrote, in milliseconds since 1970.
    public let time: Int64
    /// The records that came back.
    public internal(set) var restored: [RecordName] = []
    /// The records that have their values of before.
    public internal(set) var changed: [RecordName] = []
    /// The records that are deleted, because the command had added them.
    public internal(set) var deleted: [RecordName] = []
    /// The records that were deleted by themselves; all others of ``deleted`` went with one of them.
    public internal(set) var deletions: [RecordName] = []
    /// How many records stayed, because somebody has changed them since.
    public internal(set) var kept = 0
    /// Whether nothing of the command was left to take back.
    public var isEmpty: Bool { restored.isEmpty && changed.isEmpty && deleted.isEmpty }

    private enum CodingKeys: String, CodingKey {
        case command, time, restored, changed, deleted, deletions, kept
    }

    /// Writes numbers of records, and the names of ``deletions``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(command, forKey: .command)
        try container.encode(time, forKey: .time)
        try container.encode(restored.count, forKey: .restored)
        try container.encode(changed.count, forKey: .changed)
        try container.encode(deleted.count, forKey: .deleted)
        try container.encode(deletions, forKey: .deletions)
        try container.encode(kept, forKey: .kept)
    }
}

extension ScorebookStore {
    /// Takes back the last command of this machine, as new writes that reach the other machines. Called again, takes back
    /// the one before.
    ///
    /// What somebody has changed since, here or on another machine, stays.
    ///
    /// - Parameters:
    ///   - run: takes back the command of this run (``Habits/Command/run``), whatever other commands wrote since.
    ///   - skipped: the runs of commands that stay as they are, and that nobody takes back any more. They do not if this throws.
    /// - Throws: ``ScorebookError`` `notFound` when there is nothing to take back; `invalidValue` when something was added since to
    ///   a record that the command had added, so that taking it back would delete that, too.
    public func undo(_ run: String? = nil, skipping skipped: [String] = []) async throws -> UndoneCommand {
        try await records.write { [self] db in
            try UndoJournal.forget(db, runs: skipped)
            return try undo(db, run)
        }
    }

    func undo(_ db: Database, _ run: String? = nil) throws -> UndoneCommand {
        _ = try records.fold(db)
        // What others added to a merged person or game belongs to the merge from now on.
        try settleMerges(db)
        guard let entry = try UndoJournal.last(db, run: run, now: now()) else { throw Self.nothingToUndo }
        var undone = UndoneCommand(command: entry.command, time: entry.time)
        let lost = try lostPlaces(db, entry.changes)
        undone.kept += lost.count
        for change in entry.changes where change.place.map(lost.contains) != true {
            try takeBack(db, change, &undone)
        }
        try deleteAdded(db, entry.changes.filter { $0.old == nil }, &undone)
        try UndoJournal.forget(db, runs: [entry.run])
        _ = try records.fold(db)
        return undone
    }

    /// Whether the command of ``habits`` has changed something: what is written again as it was does not count.
    public func hasCommandWritten() async throws -> Bool {
        guard let command = habits.command else { return false }
        return try await hasWritten(command.run)
    }

    /// Whether the command of a run has changed something that ``undo(_:)`` can take back.
    public func hasWritten(_ run: String) async throws -> Bool {
        try await records.database.read { try UndoJournal.has($0, run: run) }
    }

    /// Returns the places of scores that a command wrote, and in whose stead somebody has written others since. What the command itself
    /// had replaced there does not come back: the player would have two scores.
    private func lostPlaces(_ db: Database, _ changes: [UndoJournal.Change]) throws -> Set<ScorePlace> {
        var places: Set<ScorePlace> = []
        for change in changes where change.old == nil {
            guard let place = change.place, try UndoJournal.values(db, change.name) == nil,
                try place.hasScore(db)
            else { continue }
            places.insert(place)
        }
        return places
    }

    /// Restores a record that was deleted, and gives one that was changed its values of before.
    private func takeBack(_ db: Database, _ change: UndoJournal.Change, _ undone: inout UndoneCommand) throws
    {
        guard let old = change.old else { return }
        let name = try RecordName(change.name)
        guard let new = change.new else {
            guard try records.state(db, of: name)?.isDeleted == true else { return }
            undone.restored += try records.restore(db, name)
            return
        }
        guard let current = try UndoJournal.values(db, change.name) else {
            undone.kept += 1
            return
        }
        let columns = old.filter { current[$0.key] == new[$0.key] }
        if columns.count < old.count { undone.kept += 1 }
        guard !columns.isEmpty else { return }
        let values = columns.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(
            separator: ", ")
        try db.execute(
            sql: "UPDATE \(name.recordType) SET \(values) WHERE recordName = ?", arguments: [change.name])
        undone.changed.append(name)
    }

    /// Deletes what a command had added: as one deletion, so that a match comes back with all that was in it.
    private func deleteAdded(_ db: Database, _ changes: [UndoJournal.Change], _ undone: inout UndoneCommand)
        throws
    {
        _ = try records.fold(db)
        let plan = try planDeletion(db, changes, of: undone.command)
        undone.deleted = plan.deleted
        undone.deletions = plan.names
        if !plan.names.isEmpty { try records.delete(db, plan.names) }
    }

    /// Returns which records are to be deleted by themselves, and which go in all.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` when something was added or changed since.
    private func planDeletion(_ db: Database, _ changes: [UndoJournal.Change], of command: String) throws -> (
        names: [RecordName], deleted: [RecordName]
    ) {
        let added = Set(changes.map(\.name))
        var there: [RecordName] = []
        for change in changes {
            guard let current = try UndoJournal.values(db, change.name) else { continue }
            let name = try RecordName(change.name)
            guard UndoJournal.filled(current) == change.new else {
                let what = try RecordTitles(db, records, time).phrase(for: name)
                throw Self.refusal("\(what) was changed since `\(command)` added it")
            }
            there.append(name)
        }
        var gone: Set<RecordName> = []
        var names: [RecordName] = []
        for kind in [.match, .player, .matchLocation, .matchImage, .score, .game, .person] as [RecordKind] {
            for name in there where name.recordType == kind.recordType && !gone.contains(name) {
                let going = try records.deletionSteps(db, name).filter { $0.action == .delete }.map(\.name)
                let others = going.count { !added.contains($0.description) }
                guard others == 0 else {
                    throw Self.refusal(
                        "\(others) \(others == 1 ? "record" : "records") that somebody added since would go with what `\(command)` added"
                    )
                }
                gone.formUnion(going)
                names.append(name)
            }
        }
        return (names, gone.sorted())
    }

    private static func refusal(_ message: String) -> ScorebookError {
        ScorebookError(.invalidValue, message)
    }
}

/// Where a score stands in the sheet of a match.
private struct ScorePlace: Hashable {
    /// The name of the player's record, as SQL.
    let player: String
    /// As SQL.
    let round: String

    func hasScore(_ db: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM SBScore WHERE player = \(player) AND round IS \(round))"
        return try Bool.fetchOne(db, sql: sql) ?? false
    }
}

extension UndoJournal.Change {
    /// The place of a score that was added or deleted; nil for any other change.
    fileprivate var place: ScorePlace? {
        guard name.hasPrefix(RecordKind.score.recordType + RecordName.separator), old == nil || new == nil,
            let values = old ?? new, let player = values["player"]
        else { return nil }
        return ScorePlace(player: player, round: values["round"] ?? "NULL")
    }
}
