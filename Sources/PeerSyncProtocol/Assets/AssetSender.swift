import PeerSyncModel

/// The sending half of the exchange of assets with one peer: a state machine without I/O.
package struct AssetSender: Sendable {
    /// Pieces that the peer has asked for, in order.
    private var requests: [Message.AssetRequest] = []
    /// Files that the peer asked for and this side did not have.
    package private(set) var owed: Set<AssetHash> = []
    /// Owed files that have arrived since, and that this side has not told the peer of.
    private var available: [AssetHash] = []
    /// The files that the peer still wants; nil before it has said so.
    package private(set) var wantedByPeer: Message.AssetsWanted?

    package init() {}

    /// Handles the peer's request for a piece of a file.
    package mutating func received(_ request: Message.AssetRequest) throws(ProtocolError) {
        let waiting = requests.reduce(request.length) { $0 + $1.length }
        guard request.length > 0, waiting <= UInt64(ProtocolLimits.maximumAssetsRequested),
            requests.count < ProtocolLimits.maximumAssetRequests
        else {
            throw .unexpected("asks for more of files than is allowed")
        }
        requests.append(request)
    }

    package mutating func received(_ wanted: Message.AssetsWanted) { wantedByPeer = wanted }

    /// Whether the peer has said that it wants nothing more from this side.
    package var isPeerIdle: Bool { wantedByPeer?.files == 0 }

    /// The piece to read next, at most as large as one message may hold; answer with ``sent(_:)`` or
    /// ``isMissing(_:isOwed:)``.
    package var nextPiece: (hash: AssetHash, offset: UInt64, count: Int)? {
        guard let request = requests.first else { return nil }
        return (
            request.hash, request.offset, Int(min(request.length, UInt64(ProtocolLimits.assetChunk)))
        )
    }

    /// Notes that this side has sent a part of the next piece.
    package mutating func sent(_ count: Int) {
        guard !requests.isEmpty else { return }
        requests[0].offset += UInt64(count)
        requests[0].length -= UInt64(count)
        if requests[0].length == 0 { requests.removeFirst() }
    }

    /// Notes that the file of the next piece is not here, or not for this peer. One message tells the peer so and
    /// answers this one request. The other requests for the file get their answers in turn.
    ///
    /// - Parameter isOwed: whether to tell the peer when the file arrives.
    package mutating func isMissing(_ hash: AssetHash, isOwed: Bool) {
        guard requests.first?.hash == hash else { return }
        requests.removeFirst()
        if isOwed, owed.count < ProtocolLimits.maximumTableEntries { owed.insert(hash) }
    }

    /// Notes that files have arrived. ``nextAvailable()`` returns those that the peer has asked for.
    package mutating func arrived(_ hashes: some Sequence<AssetHash>) {
        available += hashes.filter { owed.remove($0) != nil }
    }

    /// Returns files to tell the peer of, as many as one message may name. The driver sends them in order with the
    /// pieces, because the peer ignores this news before the answer that a file is missing.
    package mutating func nextAvailable() -> [AssetHash]? {
        guard !available.isEmpty else { return nil }
        defer { available.removeFirst(min(available.count, ProtocolLimits.maximumAssetsAvailable)) }
        return Array(available.prefix(ProtocolLimits.maximumAssetsAvailable))
    }
}
