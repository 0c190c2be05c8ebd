import SyncModel

/// A record of which a peer has not taken this store's state.
public struct RefusedRecord: Sendable, Hashable {
    /// A stable name of the reason; more may be added.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The peer lets this machine only read in the zone.
        public static let readOnly = Reason(description: "readOnly")
        /// The peer has the record in another zone.
        public static let otherZone = Reason(description: "otherZone")
        /// The record is too large for the peer, or would be when it is merged with what the peer has.
        public static let tooLarge = Reason(description: "tooLarge")
    }

    public let name: RecordName
    /// What the peer that refused it is called here.
    public let peer: String
    /// The name of its zone here.
    public let zone: String
    public let reason: Reason
}
