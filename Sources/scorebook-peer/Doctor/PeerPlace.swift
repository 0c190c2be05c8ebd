import PeerSync

/// A machine to look for, and where.
struct PeerPlace: Sendable {
    let name: String?
    let noted: PeerFacts.Noted?
    /// Where to look, in this order.
    let addresses: [PeerAddress]

    /// A paired machine, where sync looks for it.
    ///
    /// - Parameters:
    ///   - found: the machines that announce themselves.
    ///   - lastError: what people read of the last error.
    init(_ peer: Peer, _ found: [FoundMachine], lastError: String?) {
        name = peer.name
        noted = PeerFacts.Noted(
            key: peer.publicKey, lastError: peer.lastErrorCode, lastErrorText: lastError,
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
