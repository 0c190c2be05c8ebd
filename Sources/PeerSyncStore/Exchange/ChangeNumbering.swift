import GRDB
import PeerSyncModel

/// The numbers that one step gives to the records that it changes, and the resulting digests of the zones.
///
/// All changes of one step form one group.
struct ChangeNumbering {
    /// The last number that was given, in this step or an earlier one.
    private(set) var last: Int64
    /// The first number of this step.
    let group: Int64
    private var digests: [Int64: ZoneDigest] = [:]
    /// Whether the step has forgotten a record.
    var hasForgotten = false

    init(_ db: Database) throws {
        last = try SyncState.integer(db, .lastSequence) ?? 0
        group = last + 1
    }

    /// The count of numbers that this step has given.
    var count: Int { Int(last - group + 1) }

    /// Gives the next number.
    @discardableResult
    mutating func next() -> Int64 {
        last += 1
        return last
    }

    /// Gives the next number to a new record, and adds the record to the digest of its zone.
    mutating func take(_ id: RecordID, in zone: Int64, _ db: Database) throws {
        next()
        try change(zone, db) { $0.insert(id) }
    }

    /// Changes the digest of a zone.
    mutating func change(_ zone: Int64, _ db: Database, _ body: (inout ZoneDigest) -> Void) throws {
        if digests[zone] == nil { digests[zone] = try Zones.digest(db, zone) }
        body(&digests[zone]!)
    }

    /// Saves the last number and the digests, and tells those who observe the records.
    func save(_ db: Database, generation: [UInt8]) throws {
        for (zone, digest) in digests { try Zones.setDigest(db, zone, digest) }
        if !digests.isEmpty || hasForgotten { try db.notifyRecords() }
        guard count > 0 else { return }
        try SyncState.set(db, .lastSequence, last)
        try Generations.record(db, generation, firstSequence: group)
    }
}
