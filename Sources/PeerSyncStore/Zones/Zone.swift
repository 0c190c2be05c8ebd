import GRDB
import PeerSyncModel

/// A set of records in a store.
///
/// Two values are equal if they say the same, the digest included; ``id`` is the zone's, whatever it holds.
public struct Zone: Sendable, Hashable, Identifiable {
    /// The row of the zone in this store.
    package let row: Int64
    /// The identity of the zone, the same on every machine.
    public let id: ZoneID
    /// The name of the zone on this machine; unique in the store.
    public let name: String
    /// Whether another machine has ever had the zone.
    public let isShared: Bool
    /// The digest of the zone's live records.
    public let digest: ZoneDigest

    /// Whether this is the zone that every store has. Records go there unless somebody names another zone.
    public var isDefault: Bool { row == Zones.defaultID }

    /// SQL that is true for the records of this zone. Fold first: records that sync does not know yet are in no zone.
    ///
    /// - Parameter column: SQL for a record's name.
    public func contains(_ column: String) -> String {
        "EXISTS (SELECT 1 FROM grdb_sync_remoteRecord WHERE remoteRecordID = \(column) AND zone = \(row))"
    }

    init(_ row: Row) throws {
        let digest = ZoneDigest(
            count: UInt64(bitPattern: row["recordCount"] as Int64), sumBytes: row.bytes("digestSum"))
        guard let name = ZoneName(row["zoneName"]), let owner = UInt64(row["owner"] as String, radix: 16),
            let digest
        else { throw RecordStoreError(.corrupt, "the zone “\(row["name"] as String)” is damaged") }
        self.row = row["id"]
        id = ZoneID(name: name, owner: ReplicaID(rawValue: owner))
        self.name = row["name"]
        isShared = row["isShared"]
        self.digest = digest
    }
}
