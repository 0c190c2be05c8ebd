import PeerSyncModel

/// The records that differed when two machines compared everything.
public struct SyncDifferences: Sendable, Equatable {
    /// The records that this machine sent. A record of which both machines had a state of their own is in both lists.
    public var sent: [RecordName] = []
    /// The records that the other machine sent.
    public var received: [RecordName] = []

    /// Makes differences of two machines that agree.
    public init() {}
}
