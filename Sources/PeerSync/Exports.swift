@_exported import PeerSyncChannel
@_exported import PeerSyncModel
@_exported import PeerSyncProtocol
// An app imports `PeerSync` alone, and has all that its public interface names.
@_exported import PeerSyncStore
