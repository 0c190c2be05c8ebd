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

    private struct FutureStamps {
        var names: [RecordName] = []
        var stamps: Set<Stamp> = []
        /// The greatest time that is not in the future.
        var lastBefore = HybridTime(rawValue: 0)
    }

    private func futureStamps(_ db: Database, after limit: Int64) throws -> FutureStamps {
        let shapes = ShapeTable(db)
        var future = FutureStamps()
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, remoteRecord FROM grdb_sync_remoteRecord")
        while let row = try rows.next() {
            let name = try RecordName(row[0] as String)
            let metadata = try RecordMetadata(
                row.bytes("remoteRecord"), shapes: shapes, name: name.description)
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
