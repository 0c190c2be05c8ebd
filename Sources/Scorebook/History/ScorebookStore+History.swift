import GRDB
import PeerSync

extension ScorebookStore {
    /// Lists what sync overwrote of a record, and what of it came too late; the last first.
    public func history(of name: RecordName) async throws -> [HistoryListing] {
        try await listing { [records] in try records.history.entries($0, of: name) }
    }

    /// Lists what sync overwrote since a time, and what came too late; the last first.
    ///
    /// - Parameters:
    ///   - moment: milliseconds since 1970.
    ///   - limit: the most entries.
    public func history(since moment: Int64, limit: Int = 1000) async throws -> [HistoryListing] {
        try await listing { [records] in try records.history.entries($0, since: moment, limit: limit) }
    }

    /// Writes the values that a record had at a time, as far as they are known. `undo` takes it back.
    ///
    /// - Parameters:
    ///   - name: the record; a deleted one comes back.
    ///   - moment: milliseconds since 1970.
    ///   - field: the only field to restore; nil for all.
    /// - Returns: the fields that now have another value.
    /// - Throws: ``ScorebookError``: `notFound` when nothing is known of the record at that time; `invalidValue` when another score, player
    ///   or place stands there by now.
    @discardableResult
    public func restore(_ name: RecordName, at moment: Int64, field: String? = nil) async throws -> [String] {
        try await write { [records] db in
            do {
                let isShown = try records.listing.isShown(db, name)
                // A score brings its player along.
                let player = try records.state(db, of: name)?.target("player")
                let hidden = try [name, player].compactMap(\.self).filter {
                    try !records.listing.isShown(db, $0)
                }
                let fields = try records.history.restore(
                    db, name, at: moment, fields: field.map { [$0] })
                let hasComeBack = try !isShown && records.listing.isShown(db, name)
                let positions = Positions(db, records)
                try positions.check(returned: hidden.filter { try records.listing.isShown(db, $0) })
                let isMoved = Positions.columns(of: name).contains { fields.contains($0) }
                if isMoved { try positions.check(name) }
                guard !fields.isEmpty || hasComeBack else {
                    throw ScorebookError(
                        .notFound, "this machine knows no other values of \(name) at that time")
                }
                return fields
            } catch let error as RecordStoreError where error.code == .noSuchRecord {
                throw ScorebookError(.notFound, "there is no record \(name), and no deleted one")
            }
        }
    }

    private func listing(
        _ entries: @escaping @Sendable (Database) throws -> [HistoryEntry]
    ) async throws -> [HistoryListing] {
        try await foldForReading()
        let machines = try await writingMachines()
        return try await read { [self] db in
            let titles = RecordTitles(db, records, time)
            func listed(_ value: HistoryEntry.Value) throws -> HistoryListing.Value {
                HistoryListing.Value(
                    text: try text(value.value, titles), at: Self.text(value.stamp.time.milliseconds),
                    machine: machines[value.stamp.replica] ?? .unknown)
            }
            return try entries(db).filter { entry in
                guard case .one(let zone) = scope else { return true }
                return try records.zones.find(db, of: entry.name) == zone
            }.map { entry in
                HistoryListing(
                    recordName: entry.name, title: try titles.phrase(for: entry.name), field: entry.field,
                    noticedAt: Self.text(entry.noticed), lost: try listed(entry.lost),
                    won: try listed(entry.won), wasShown: entry.wasShown,
                    lostMoment: entry.lost.stamp.time.milliseconds)
            }
        }
    }

    /// A value as people read it: a date on the clock of this machine, what a reference leads to by its title.
    private func text(_ value: FieldValue, _ titles: RecordTitles) throws -> String? {
        switch value {
        case .null: return nil
        case .integer(let value): return String(value)
        case .real(let value): return String(value)
        case .blob(let bytes): return "\(bytes.count) bytes"
        case .text(let text):
            if let name = try? RecordName(text), RecordKind(rawValue: name.recordType) != nil {
                return try titles.phrase(for: name)
            }
            return time.text(text)
        case .date(let milliseconds): return time.text(Self.text(milliseconds))
        case .reference(let name): return try titles.phrase(for: name)
        case .asset(let asset): return asset.name
        }
    }

    private static func text(_ milliseconds: Int64) -> String {
        ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? "\(milliseconds)"
    }
}
