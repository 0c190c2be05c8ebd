import GRDB
import SyncModel

/// What a store's stamps say when they are held against the wall clock.
public struct ClockReport: Sendable, Equatable {
    /// The wall clock, in milliseconds since 1970.
    public let now: Int64
    /// The newest time that the store has issued or seen, in milliseconds since 1970; 0 for a store without any.
    public let newest: Int64
    /// How many records, deleted ones included, have stamps so far in the future that other machines refuse them.
    public let records: Int
    /// Whether there is something for ``RecordStore/repairClock(_:allowedSkew:)`` to do.
    public let needsRepair: Bool
}

extension RecordStore {
    /// How far the stamps of a peer may lie in the future if nobody says otherwise, in milliseconds: five minutes.
    public static let defaultAllowedSkew: Int64 = 300_000

    /// Looks for stamps in the future, as a clock leaves them that was wrong for a while. Fold first.
    ///
    /// - Parameter allowedSkew: how far in the future is still fine, in milliseconds.
    public func clockReport(_ db: Database, allowedSkew: Int64 = RecordStore.defaultAllowedSkew) throws
        -> ClockReport
    {
        let limit = now() + allowedSkew
        let newest = try StoredClock.load(db).last.milliseconds
        let future = newest > limit ? try futureStamps(db, after: limit) : FutureStamps()
        return ClockReport(
            now: limit - allowedSkew, newest: newest, records: future.names.count, needsRepair: newest > limit
        )
    }

    /// Stamps anew what was stamped too far in the future, in the same order, as written now. Part of the
    /// transaction that is open.
    ///
    /// Other machines refuse such stamps, so none of them has them, unless its clock was wrong as well; then it has
    /// to be repaired there, too.
    ///
    /// - Returns: what was found before.
    @discardableResult
    public func repairClock(_ db: Database, allowedSkew: Int64 = RecordStore.defaultAllowedSkew) throws
        -> ClockReport
    {
        _ = try fold(db)
        let report = try clockReport(db, allowedSkew: allowedSkew)
        guard report.needsRepair else { return report }
        let future = try futureStamps(db, after: report.now + allowedSkew)
        var clock = HybridLogicalClock(last: future.lastBefore)
        var renewed: [Stamp: Stamp] = [:]
        for stamp in future.stamps.sorted() {
            renewed[stamp] = Stamp(time: clock.tick(milliseconds: report.now), replica: replica)
        }
        let set = try WorkingSet(db, tables)
        for name in future.names {
            guard let record = try set.known(name) else { continue }
            record.state = record.state.mapStamps { renewed[$0] ?? $0 }
        }
        try StoredClock.save(db, clock)
        _ = try set.save(generation: generation)
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
        let rows = try Row.fetchCursor(db, sql: "SELECT remoteRecordID, remoteRecord FROM remoteRecord")
        while let row = try rows.next() {
            let name = try RecordName(row[0] as String)
            let metadata = try RecordMetadata(
                row.bytes("remoteRecord"), shapes: shapes, name: name.description)
            var isAhead = false
            for stamp in metadata.stamps
                + [metadata.deletion, metadata.revival, metadata.erasure].compactMap({ $0 })
            {
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
