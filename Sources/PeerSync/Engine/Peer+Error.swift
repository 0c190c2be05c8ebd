import PeerSyncStore

extension Peer {
    /// The kind of ``/PeerSyncStore/Peer/lastError``; nil if there is none, or if a program noted it that had no codes.
    public var lastErrorCode: PeerSyncError.Code? {
        errorCode.map { PeerSyncError.Code(description: $0) }
    }
}
