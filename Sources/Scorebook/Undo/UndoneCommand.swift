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
        let own = try goingBack(db, entry.changes)
        let corrected = try corrected(db, entry.changes, own)
        let lost = try lostPlaces(db, entry.changes, own)
        undone.kept += lost.count + corrected.count { $0.recordType != RecordKind.score.recordType }
        for change in entry.changes where change.place.map(lost.contains) != true {
            try takeBack(db, change, own, corrected, &undone)
        }
        try deleteAdded(db, entry.changes.filter { $0.old == nil }, except: corrected, &undone)
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

    /// Returns the records that are as a command left them.
    private func untouched(_ db: Database, _ changes: [UndoJournal.Change]) throws -> Set<RecordName> {
        var left: [String: UndoJournal.Change] = [:]
        // A command may write a record several times. The last write comes first.
        for change in changes.reversed() {
            guard let known = left[change.name], change.old != nil, let new = change.new else {
                left[change.name] = change
                continue
            }
            left[change.name]?.new = (known.new ?? [:]).merging(new) { $1 }
        }
        return try Set(
            left.values.filter { change in
                let current = try UndoJournal.values(db, change.name)
                guard let current, let new = change.new else { return current == nil && change.new == nil }
                return change.old == nil
                    ? UndoJournal.filled(current) == UndoJournal.filled(new)
                    : new.allSatisfy { current[$0.key] == $0.value }
            }.map { try RecordName($0.name) })
    }

    /// Returns the records that are as a command left them, without those that stay in their positions because somebody has filled the former ones.
    private func goingBack(_ db: Database, _ changes: [UndoJournal.Change]) throws -> Set<RecordName> {
        var own = try untouched(db, changes)
        for change in changes {
            let name = try RecordName(change.name)
            guard own.contains(name), let old = change.old, change.new != nil,
                try isTaken(db, name, old, own)
            else { continue }
            own.remove(name)
        }
        return own
    }

    /// Returns the scores and the places that a command added, and that somebody has corrected since. They stay; all else goes back.
    private func corrected(_ db: Database, _ changes: [UndoJournal.Change], _ own: Set<RecordName>) throws
        -> Set<RecordName>
    {
        let names = try changes.filter { $0.old == nil }.map { try RecordName($0.name) }
        return try Set(
            names.filter { name in
                let isAlone = [.score, .matchLocation].contains(RecordKind(rawValue: name.recordType))
                return try isAlone && !own.contains(name)
                    && UndoJournal.values(db, name.description) != nil
            })
    }

    /// Returns the places of scores that a command wrote, and that somebody has corrected since, or in whose stead somebody has written
    /// others. What the command itself had replaced there does not come back: the player would have two scores.
    private func lostPlaces(_ db: Database, _ changes: [UndoJournal.Change], _ own: Set<RecordName>) throws
        -> Set<ScorePlace>
    {
        var places: Set<ScorePlace> = []
        for change in changes where change.old == nil {
            guard let place = change.place, try !own.contains(RecordName(change.name)),
                try UndoJournal.values(db, change.name) != nil || place.hasScore(db)
            else { continue }
            places.insert(place)
        }
        return places
    }

    /// Restores a record that was deleted, and gives one that was changed its values of before.
    ///
    /// - Parameters:
    ///   - own: the records that are as the command left them. They are no obstacle: they go back, too.
    ///   - corrected: the records that stay as they are.
    private func takeBack(
        _ db: Database, _ change: UndoJournal.Change, _ own: Set<RecordName>, _ corrected: Set<RecordName>,
        _ undone: inout UndoneCommand
    ) throws {
        let name = try RecordName(change.name)
        guard let old = change.old, !corrected.contains(name) else { return }
        let current = try UndoJournal.values(db, change.name)
        guard let new = change.new else {
            guard try records.state(db, of: name)?.isDeleted == true else {
                // A place has the same name when somebody writes it again.
                let isPlace = name.recordType == RecordKind.matchLocation.recordType
                if isPlace, let current, current != old { undone.kept += 1 }
                return
            }
            guard let restored = try Positions(db, records).restore(name, besides: own) else {
                undone.kept += 1
                return
            }
            // A place has the same name when somebody writes it again, and deletes that, too.
            if name.recordType == RecordKind.matchLocation.recordType { try write(db, name, old) }
            undone.restored += restored
            return
        }
        guard let current else {
            undone.kept += 1
            return
        }
        var columns = old.filter { current[$0.key] == new[$0.key] }
        if try isTaken(db, name, columns, own) {
            let position = Positions.columns(of: name)
            columns = columns.filter { !position.contains($0.key) }
        }
        if columns.count < old.count { undone.kept += 1 }
        guard !columns.isEmpty else { return }
        try write(db, name, columns)
        undone.changed.append(name)
    }

    /// - Parameter columns: the values, as SQL.
    private func write(_ db: Database, _ name: RecordName, _ columns: [String: String]) throws {
        let values = columns.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(
            separator: ", ")
        try db.execute(
            sql: "UPDATE \(name.recordType) SET \(values) WHERE recordName = ?",
            arguments: [name.description])
    }

    /// Whether somebody has filled the position since that the values would give back to a record: who sat elsewhere meanwhile may
    /// have got another seat.
    private func isTaken(
        _ db: Database, _ name: RecordName, _ columns: [String: String], _ own: Set<RecordName>
    ) throws -> Bool {
        let moved = Positions.columns(of: name).filter { columns[$0] != nil }
        guard !moved.isEmpty else { return false }
        let state = try records.state(db, of: name)
        let moment = moved.compactMap { state?.field($0)?.stamp }.min()
        var isTaken = false
        try db.inSavepoint {
            try write(db, name, columns)
            isTaken = try Positions(db, records).rival(of: name, since: moment, besides: own) != nil
            return .rollback
        }
        return isTaken
    }

    /// Deletes what a command had added: as one deletion, so that a match comes back with all that was in it.
    ///
    /// - Parameter corrected: the records that stay.
    private func deleteAdded(
        _ db: Database, _ changes: [UndoJournal.Change], except corrected: Set<RecordName>,
        _ undone: inout UndoneCommand
    ) throws {
        _ = try records.fold(db)
        let plan = try planDeletion(db, changes, except: corrected, of: undone.command)
        undone.deleted = plan.deleted
        undone.deletions = plan.names
        if !plan.names.isEmpty { try records.delete(db, plan.names) }
    }

    /// Returns which records are to be deleted by themselves, and which go in all.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` when something was added or changed since.
    private func planDeletion(
        _ db: Database, _ changes: [UndoJournal.Change], except corrected: Set<RecordName>, of command: String
    ) throws -> (names: [RecordName], deleted: [RecordName]) {
        func refusal(_ name: RecordName) throws -> ScorebookError {
            let what = try RecordTitles(db, records, time).phrase(for: name)
            return Self.refusal("\(what) was changed since `\(command)` added it")
        }
        let added = Set(changes.map(\.name))
        var there: [RecordName] = []
        for change in changes {
            guard let current = try UndoJournal.values(db, change.name) else { continue }
            let name = try RecordName(change.name)
            guard !corrected.contains(name) else { continue }
            guard UndoJournal.filled(current) == change.new else { throw try refusal(name) }
            there.append(name)
        }
        var gone: Set<RecordName> = []
        var names: [RecordName] = []
        for kind in [.match, .player, .matchLocation, .matchImage, .score, .game, .person] as [RecordKind] {
            for name in there where name.recordType == kind.recordType && !gone.contains(name) {
                let going = try records.deletionSteps(db, name).filter { $0.action == .delete }.map(\.name)
                if let stays = going.first(where: corrected.contains) { throw try refusal(stays) }
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
