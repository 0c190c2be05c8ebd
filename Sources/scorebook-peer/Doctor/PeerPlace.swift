import PeerSync

/// A machine to look for, and where.
struct PeerPlace: Sendable {
    let name: String?
    let noted: PeerFacts.Noted?
    /// Where to look, in this order.
    let addresses: [PeerAddress]

    /// A paired machine, where sync looks for it.
    ///
    /// - Parameter found: the machines that announce themselves.
    init(_ peer: Peer, _ found: [FoundMachine]) {
        name = peer.name
        noted = PeerFacts.Noted(
            key: peer.publicKey, lastError: peer.lastErrorCode,
            lastSync: peer.lastSync.flatMap { ISO8601.milliseconds(canonical: $0) },
            isConnected: peer.isConnected)
        addresses = peer.places(among: found)
    }

    /// Whatever is at an address.
    init(_ address: PeerAddress) {
        name = nil
        noted = nil
        addresses = [address]
    }
}
