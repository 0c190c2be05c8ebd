import GRDB
import PeerSyncModel

/// The clock that stamps a store's writes: ``RecordStore/clock``.
public struct StoreClock: Sendable {
    /// The default limit for the stamps of a peer in the future, in milliseconds: five minutes.
    public static let defaultAllowedSkew: Int64 = 300_000

    /// Whether other machines refuse what a clock stamps that is so far ahead of theirs, in milliseconds, unless somebody lets them
    /// allow more.
    public static func isTooFarAhead(_ milliseconds: Int64) -> Bool { milliseconds > defaultAllowedSkew }

    /// The maximum distance into the future, in milliseconds: 4,459 years. With more, sums would overflow.
    package static let maximumSkew: Int64 = 1 << 47

    let store: RecordStore

    /// Returns a stamp for a local action at this moment.
    func newStamp(_ db: Database) throws -> Stamp {
        var clock = try StoredClock.load(db)
        let time = clock.tick(milliseconds: store.now())
        try StoredClock.save(db, clock)
        return Stamp(time: time, replica: store.replica)
    }

    /// Finds stamps in the future, which a wrong clock has left. Fold first.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - allowedSkew: the allowed distance into the future, in milliseconds, from 0 to 2^47; what lies outside counts as the nearer end.
    public func report(_ db: Database, allowedSkew: Int64 = Self.defaultAllowedSkew) throws
        -> ClockReport
    {
        let now = store.now()
        let limit = now + Self.bounded(allowedSkew)
        let newest = try StoredClock.load(db).last.milliseconds
        let future = newest > limit ? try futureStamps(db, after: limit) : FutureStamps()
        return ClockReport(now: now, newest: newest, records: future.names.count, needsRepair: newest > limit)
    }

    private static func bounded(_ skew: Int64) -> Int64 { min(max(0, skew), maximumSkew) }

    /// Replaces stamps too far in the future by stamps of this moment, in the same order. Part of the open transaction.
    ///
    /// Other machines refuse such stamps, so they have none of them. A machine whose own clock was wrong as well may
    /// have them; it then needs the same repair.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - allowedSkew: see ``report(_:allowedSkew:)``.
    /// - Returns: the report from before the repair.
    @discardableResult
    public func repair(_ db: Database, allowedSkew: Int64 = Self.defaultAllowedSkew) throws
        -> ClockReport
    {
        _ = try store.fold(db)
        let report = try self.report(db, allowedSkew: allowedSkew)
        guard report.needsRepair else { return report }
        let future = try futureStamps(db, after: report.now + Self.bounded(allowedSkew))
        var clock = HybridLogicalClock(last: future.lastBefore)
        var renewed: [Stamp: Stamp] = [:]
        for stamp in future.stamps.sorted() {
            renewed[stamp] = Stamp(time: clock.tick(milliseconds: report.now), replica: store.replica)
        }
        let set = WorkingSet(db, store.tables)
        for name in future.names {
            guard let record = try set.known(name) else { continue }
            record.state = record.state.mapStamps { renewed[$0] ?? $0 }
        }
        try StoredClock.save(db, clock)
        _ = try set.save(generation: store.generation)
        return report
    }

    /// Refuses zones in which a record lies too far in the future for another machine. Fold first.
    ///
    /// - Throws: `clockSkew`.
    func check(_ db: Database, zones: [Int64], at clock: Int64, allowedSkew: Int64) throws {
        // A clock that somebody sends may be any number.
        guard try StoredClock.load(db).last.milliseconds - allowedSkew > clock else { return }
        let rows = zones.map(String.init).joined(separator: ", ")
        try forEachMetadata(db, where: "zone IN (\(rows))") { name, metadata in
            guard let newest = metadata.allStamps.max()?.time.milliseconds, newest > clock + allowedSkew
            else { return }
            throw RecordStoreError.clockSkew(
                name, writtenAt: newest, receivedAt: clock, "nothing was replaced")
        }
    }

    private struct FutureStamps {
        var names: [RecordName] = []
        var stamps: Set<Stamp> = []
        /// The greatest time that is not in the future.
        var lastBefore = HybridTime(rawValue: 0)
    }

    private func futureStamps(_ db: Database, after limit: Int64) throws -> FutureStamps {
        var future = FutureStamps()
        try forEachMetadata(db) { name, metadata in
            var isAhead = false
            for stamp in metadata.allStamps {
                if stamp.time.milliseconds > limit {
                    future.stamps.insert(stamp)
                    isAhead = true
                } else {
                    future.lastBefore = max(future.lastBefore, stamp.time)
                }
            }
            if isAhead { future.names.append(name) }
        }
        return future
    }

    private func forEachMetadata(
        _ db: Database, where condition: String = "TRUE", _ body: (RecordName, RecordMetadata) throws -> Void
    ) throws {
        let shapes = ShapeTable(db)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, remoteRecord FROM grdb_sync_remoteRecord WHERE \(condition)")
        while let row = try rows.next() {
            let name = try RecordName(row[0] as String)
            try body(
                name, RecordMetadata(row.bytes("remoteRecord"), shapes: shapes, name: name.description))
        }
    }
}

extension RecordStoreError {
    /// The error about a record of the future.
    ///
    /// - Parameters:
    ///   - written: the time of its newest stamp, in milliseconds since 1970.
    ///   - clock: that of the machine that does not take it, in milliseconds since 1970.
    ///   - consequence: what that machine has done.
    static func clockSkew(
        _ name: RecordName, writtenAt written: Int64, receivedAt clock: Int64, _ consequence: String
    ) -> RecordStoreError {
        let theirs = ISO8601.text(milliseconds: written, fraction: .ifNeeded) ?? "a year beyond 9999"
        let ours = ISO8601.text(milliseconds: clock, fraction: .ifNeeded) ?? "an impossible date"
        return RecordStoreError(
            .clockSkew,
            "\(name) was written at \(theirs) by the clock of its machine, but the machine that receives it has "
                + "\(ours); \(consequence)")
    }
}

extension RecordState {
    fileprivate func mapStamps(_ transform: (Stamp) -> Stamp) -> RecordState {
        RecordState(
            name: name,
            sortedFields: fields.map {
                RecordField(name: $0.name, value: $0.value, stamp: transform($0.stamp))
            },
            deletion: deletion.map(transform), revival: revival.map(transform),
            erasure: erasure.map(transform))
    }
}
