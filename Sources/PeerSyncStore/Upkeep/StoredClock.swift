import GRDB
import PeerSyncModel

/// The hybrid logical clock of the store.
enum StoredClock {
    static func load(_ db: Database) throws -> HybridLogicalClock {
        let last = try SyncState.integer(db, .clock) ?? 0
        return HybridLogicalClock(last: HybridTime(rawValue: UInt64(bitPattern: last)))
    }

    static func save(_ db: Database, _ clock: HybridLogicalClock) throws {
        try SyncState.set(db, .clock, Int64(bitPattern: clock.last.rawValue))
    }
}
