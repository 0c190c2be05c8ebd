import PeerSyncModel

/// A zone that one side offers the other in its hello.
package struct ZoneOffer: Sendable, Hashable {
    package var id: ZoneID
    /// The zone's name at the side that offers it, for people.
    package var name: String
    /// Whether the zone is the default zone, which every store has.
    package var isDefault: Bool
    /// Whether any other machine has ever had the zone.
    package var isShared: Bool
    /// The rights of the receiver of the offer in the zone.
    package var rights: ZoneRights
    /// The number of live records in the zone.
    package var recordCount: UInt64
    /// 16 bytes; see ``ZoneDigest/fingerprint``.
    package var fingerprint: [UInt8]

    package static let fingerprintLength = 16

    /// Whether the zone is empty, and no other machine has it.
    var isNew: Bool { recordCount == 0 && !isShared }

    package init(
        id: ZoneID, name: String, isDefault: Bool, isShared: Bool, rights: ZoneRights, recordCount: UInt64,
        fingerprint: [UInt8]
    ) {
        self.fingerprint = fingerprint
        self.id = id
        self.name = name
        self.isDefault = isDefault
        self.isShared = isShared
        self.rights = rights
        self.recordCount = recordCount
    }
}
