// An app imports `PeerSync` alone, and has all that its public interface names.
@_exported import RecordStore
@_exported import SecureChannel
@_exported import SyncModel
@_exported import SyncProtocol
