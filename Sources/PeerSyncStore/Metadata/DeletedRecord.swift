import PeerSyncModel

/// A deleted record that a person can restore.
public struct DeletedRecord: Sendable, Hashable {
    /// The record's name.
    public let name: RecordName
    /// The name of its zone on this machine.
    public let zone: String
    /// The time of the deletion in milliseconds since 1970, by the clock of the machine that deleted it.
    public let time: Int64
    /// The machine that deleted it.
    public let replica: ReplicaID
    /// The number of records that come back with it: those that went with it, and those that it needs.
    public let count: Int
}
