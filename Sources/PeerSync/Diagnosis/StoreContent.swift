import PeerSyncStore

/// What a store holds, as far as it says something about sync.
public struct StoreContent: Sendable, Equatable {
    /// Records that a machine has refused.
    public struct Refused: Sendable, Hashable {
        /// The name of the machine that refuses them.
        public var peer: String
        /// The zone of the records.
        public var zone: String

        /// Makes a group; see the properties.
        public init(peer: String, zone: String) {
            self.peer = peer
            self.zone = zone
        }
    }

    /// Whether sync is switched on.
    public var isSyncOn: Bool
    /// The number of live records.
    public var live: Int
    /// The number of records, or of zones, in which sync's data and the tables do not agree.
    public var unsound: Int
    /// The number of records that wait for others.
    public var held: Int
    /// How many records each machine has refused in each zone.
    public var refused: [Refused: Int]
    /// The number of rows that stay here.
    public var unsynced: Int
    /// How far the newest stamp lies in the future, in milliseconds.
    public var clockAhead: Int64
    /// The number of paired machines.
    public var peers: Int

    /// Makes content; see the properties.
    public init(
        isSyncOn: Bool = true, live: Int = 0, unsound: Int = 0, held: Int = 0, refused: [Refused: Int] = [:],
        unsynced: Int = 0, clockAhead: Int64 = 0, peers: Int = 0
    ) {
        self.isSyncOn = isSyncOn
        self.live = live
        self.unsound = unsound
        self.held = held
        self.refused = refused
        self.unsynced = unsynced
        self.clockAhead = clockAhead
        self.peers = peers
    }

    /// Takes the content from what the store itself says.
    public init(_ status: StoreStatus, _ check: StoreCheck) {
        self.init(
            isSyncOn: status.isSyncOn, live: status.zones.reduce(0) { $0 + Int($1.digest.count) },
            unsound: check.findings.count(where: \.kind.isMendable)
                + check.digests.count { $0.kept != $0.found },
            held: status.held,
            refused: Dictionary(grouping: status.refused) { Refused(peer: $0.peer, zone: $0.zone) }
                .mapValues(\.count),
            unsynced: status.unsyncedCount, clockAhead: status.clockAhead, peers: status.peers.count)
    }
}
