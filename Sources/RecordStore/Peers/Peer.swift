import SyncModel

/// A machine that this one is paired with.
public struct Peer: Sendable, Hashable {
    /// The machine's number in this store; that of no other, also after the pairing has ended.
    package let id: Int64
    /// The peer's static key, 32 bytes: that is who it is.
    public let publicKey: [UInt8]
    /// What this machine calls the peer; unique here.
    public let name: String
    /// Where it was last reached, as `host:port`, if this machine has connected to it.
    public let address: String?
    /// ISO 8601.
    public let pairedAt: String
    /// When a session with it last began or ended, ISO 8601; while there is one, it is seen all the time.
    public let lastSeen: String?
    /// When both sides last found their digests equal, ISO 8601.
    public let lastSync: String?
    /// What went wrong last, if that was after the last sync.
    public let lastError: String?
    /// The processes that noted a session with it.
    let processes: Set<RunningProcess>

    /// Whether a process of this machine has a live session with it. Asks the system.
    public var isConnected: Bool { processes.contains(where: \.isRunning) }

    /// The key in 64 hexadecimal digits.
    public var key: String { publicKey.hexadecimal }
}
