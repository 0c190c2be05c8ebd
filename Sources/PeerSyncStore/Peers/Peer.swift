import PeerSyncModel

/// A machine that this one is paired with.
///
/// Two values are equal if they say the same; ``id`` is the machine's, whatever is known of it.
public struct Peer: Sendable, Hashable, Identifiable {
    /// The machine's number in this store. No other machine ever gets it, even after the pairing has ended.
    public let id: Int64
    /// The peer's static key, 32 bytes, which is its identity.
    public let publicKey: [UInt8]
    /// The name of the peer on this machine; unique here.
    public let name: String
    /// The last address of the peer as `host:port`, if this machine has connected to it.
    public let address: String?
    /// The time of the pairing, ISO 8601.
    public let pairedAt: String
    /// The time when a session with the peer last began or ended, ISO 8601; it does not change during a session.
    public let lastSeen: String?
    /// The time when both sides last found their digests equal, ISO 8601.
    public let lastSync: String?
    /// The last error, if it came after the last sync.
    public let lastError: String?
    /// The static key of the machine that is said to have introduced this one to the household; nil if somebody paired it
    /// with this machine.
    public let introducedBy: [UInt8]?
    /// Whether the peer waits for changes of this store. A machine that others have introduced, and that this one has never met, gets the
    /// records from them.
    public let awaitsChanges: Bool
    /// The addresses at which others say that the peer can be reached, the newest first.
    package let hints: [String]
    /// The name of the kind of ``lastError``.
    package let errorCode: String?
    /// The processes that have noted a session with the peer.
    let processes: Set<RunningProcess>

    /// Whether a process of this machine has a live session with the peer. Asks the system.
    public var isConnected: Bool { processes.contains(where: \.isRunning) }

    /// Where to dial the peer: where this machine has reached it, otherwise where others say that it is.
    package var dialled: [String] { address.map { [$0] } ?? hints }

    /// The key in 64 hexadecimal digits.
    public var key: String { publicKey.hexadecimal }
}
