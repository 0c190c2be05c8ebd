import GRDB
import PeerSync

/// The command that ``ScorebookStore/undo(_:skipping:)`` takes back next.
public struct LastCommand: Sendable, Equatable {
    /// Its run (``Habits/Command/run``), which tells it from others of that name.
    public let run: String
    /// The command, as in `match add`.
    public let name: String
    /// The matches that it added, which go with the undo.
    public internal(set) var matches: [RecordName] = []
    /// Why it cannot be taken back: somebody has changed what it added, or added to it. One sentence; nil if it can.
    public internal(set) var obstacle: String?
}

extension ScorebookStore {
    /// Returns the command that ``undo(_:skipping:)`` would take back, without taking it back; nil if there is none of the last day.
    ///
    /// - Parameter skipped: the runs of later commands, to leave as they are.
    public func lastCommand(skipping skipped: [String] = []) async throws -> LastCommand? {
        try await records.write { [self] db in
            var last: LastCommand?
            do {
                try db.inSavepoint {
                    try UndoJournal.forget(db, runs: skipped)
                    last = try UndoJournal.last(db, now: now()).map {
                        LastCommand(run: $0.run, name: $0.command)
                    }
                    guard last != nil else { return .rollback }
                    last?.matches = try undo(db).deletions.filter {
                        $0.recordType == RecordKind.match.recordType
                    }
                    return .rollback
                }
            } catch let error as ScorebookError where error.code == .invalidValue {
                last?.obstacle = error.message
            }
            return last
        }
    }

    static var nothingToUndo: ScorebookError {
        ScorebookError(
            .notFound, "there is no command of the last day to take back",
            hint: "`record list --deleted` shows deleted records that can be restored")
    }
}
