import PeerSyncModel

/// A record whose state a peer did not take from this store.
public struct RefusedRecord: Sendable, Hashable {
    /// A stable name of the reason; later versions may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The peer lets this machine only read in the zone.
        public static let readOnly = Reason(description: "readOnly")
        /// The peer has the record in another zone.
        public static let otherZone = Reason(description: "otherZone")
        /// The record is too large for the peer, or would be after the merge with the peer's state.
        public static let tooLarge = Reason(description: "tooLarge")
    }

    /// The record's name.
    public let name: RecordName
    /// The name here of the peer that refused the record.
    public let peer: String
    /// The name of the record's zone here.
    public let zone: String
    /// Why the peer refused it.
    public let reason: Reason
}
