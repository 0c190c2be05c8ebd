import SyncModel

/// A record that somebody has deleted, and that can be restored.
public struct DeletedRecord: Sendable, Hashable {
    public let name: RecordName
    /// What its zone is called here.
    public let zone: String
    /// When it was deleted, in milliseconds since 1970, by the clock of the machine where that was.
    public let time: Int64
    /// The machine where it was deleted.
    public let replica: ReplicaID
    /// The number of records that come back with it: those that went with it, and those that it needs.
    public let count: Int
}
