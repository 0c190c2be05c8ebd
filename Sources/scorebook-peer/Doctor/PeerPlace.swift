import PeerSync

/// A machine to look for, and where.
struct PeerPlace: Sendable {
    let name: String?
    let noted: PeerFacts.Noted?
    let address: PeerAddress?

    /// A paired machine, where this one reached it last.
    init(_ peer: Peer) {
        name = peer.name
        noted = PeerFacts.Noted(
            key: peer.publicKey, lastError: peer.lastErrorCode,
            lastSync: peer.lastSync.flatMap { ISO8601.milliseconds(canonical: $0) },
            isConnected: peer.isConnected)
        address = peer.address.flatMap { PeerAddress($0) }
    }

    /// Whatever is at an address.
    init(_ address: PeerAddress) {
        name = nil
        noted = nil
        self.address = address
    }
}
