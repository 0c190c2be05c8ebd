import GRDB
import PeerSync

/// The command that ``ScorebookStore/undo()`` takes back next.
public struct LastCommand: Sendable, Equatable {
    /// The command, as in `match add`.
    public let name: String
    /// When it wrote, in milliseconds since 1970.
    public let time: Int64
    /// The matches that it added, which go with the undo.
    public let matches: [RecordName]
    /// Why it cannot be taken back: somebody has changed what it added, or added to it. One sentence; nil if it can.
    public let obstacle: String?
}

extension ScorebookStore {
    /// Returns the command that ``undo()`` would take back, without taking it back; nil if there is none of the last day.
    public func lastCommand() async throws -> LastCommand? {
        try await records.write { [self] db in
            guard let entry = try UndoJournal.last(db, now: now()) else { return nil }
            var matches: [RecordName] = []
            var obstacle: String?
            do {
                try db.inSavepoint {
                    matches = try undo(db).deletions.filter {
                        $0.recordType == RecordKind.match.recordType
                    }
                    return .rollback
                }
            } catch let error as ScorebookError where error.code == .invalidValue {
                obstacle = error.message
            }
            return LastCommand(name: entry.command, time: entry.time, matches: matches, obstacle: obstacle)
        }
    }

    /// Leaves the last command as it is, so that ``undo()`` takes back the one before.
    ///
    /// - Throws: ``ScorebookError`` `notFound` when there is none.
    public func skipLastCommand() async throws {
        try await records.write { [self] db in
            guard let entry = try UndoJournal.last(db, now: now()) else { throw Self.nothingToUndo }
            try UndoJournal.forget(db, run: entry.run)
        }
    }

    static var nothingToUndo: ScorebookError {
        ScorebookError(
            .notFound, "there is no command of the last day to take back",
            hint: "`record list --deleted` shows deleted records that can be restored")
    }
}
