import GRDB
import PeerSync

/// A command that was taken back.
public struct UndoneCommand: Sendable, Equatable, Encodable {
    /// The command, as in `match edit`.
    public let command: String
    /// When it wrote, in milliseconds since 1970.
    public let time: Int64
    /// How many records came back.
    public internal(set) var restored = 0
    /// How many records have their values of before.
    public internal(set) var changed = 0
    /// How many records are deleted, because the command had added them.
    public internal(set) var deleted = 0
    /// How many records stayed, because somebody has changed them since.
    public internal(set) var kept = 0
}

extension ScorebookStore {
    /// Takes back the last command of this machine, as new writes that reach the other machines. Called again, takes back
    /// the one before.
    ///
    /// What somebody has changed since, here or on another machine, stays.
    ///
    /// - Parameter run: takes back the command of this run (``Habits/Command/run``), whatever other commands wrote since.
    /// - Throws: ``ScorebookError`` `notFound` when there is nothing to take back; `invalidValue` when something was added since to
    ///   a record that the command had added, so that taking it back would delete that, too.
    public func undo(_ run: String? = nil) async throws -> UndoneCommand {
        try await records.write { [self] db in
            _ = try records.fold(db)
            // What others added to a merged person or game belongs to the merge from now on.
            try settleMerges(db)
            guard let entry = try UndoJournal.last(db, run: run, now: now()) else {
                throw ScorebookError(
                    .notFound, "there is no command of the last day to take back",
                    hint: "`record list --deleted` shows deleted records that can be restored")
            }
            var undone = UndoneCommand(command: entry.command, time: entry.time)
            for change in entry.changes { try takeBack(db, change, &undone) }
            try deleteAdded(db, entry.changes.filter { $0.old == nil }, &undone)
            try UndoJournal.forget(db, run: entry.run)
            _ = try records.fold(db)
            return undone
        }
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

    /// Restores a record that was deleted, and gives one that was changed its values of before.
    private func takeBack(_ db: Database, _ change: UndoJournal.Change, _ undone: inout UndoneCommand) throws
    {
        guard let old = change.old else { return }
        let name = try RecordName(change.name)
        guard let new = change.new else {
            guard try records.state(db, of: name)?.isDeleted == true else { return }
            undone.restored += try records.restore(db, name).count
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
        undone.changed += 1
    }

    private func deleteAdded(_ db: Database, _ changes: [UndoJournal.Change], _ undone: inout UndoneCommand)
        throws
    {
        let added = Set(changes.map(\.name))
        _ = try records.fold(db)
        for change in changes {
            guard let current = try UndoJournal.values(db, change.name) else { continue }
            guard UndoJournal.filled(current) == change.new else {
                let what = try RecordTitles(db, records, time).phrase(for: RecordName(change.name))
                throw Self.refusal("\(what) was changed since `\(undone.command)` added it")
            }
        }
        // The first write comes first: with a match its players go, as one deletion that can be restored as one.
        for change in changes.reversed() where try UndoJournal.values(db, change.name) != nil {
            let name = try RecordName(change.name)
            let steps = try records.deletionSteps(db, name).filter { $0.action == .delete }
            let others = steps.filter { !added.contains($0.name.description) }
            guard others.isEmpty else {
                throw Self.refusal(
                    "\(others.count) records that somebody added since would go with what `\(undone.command)` added"
                )
            }
            undone.deleted += steps.count
            try records.delete(db, name)
        }
    }

    private static func refusal(_ message: String) -> ScorebookError {
        ScorebookError(.invalidValue, message, hint: "delete it by its name if it may go")
    }
}
