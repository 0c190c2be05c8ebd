import SyncModel

/// The numbers of the protocol. Protocol/ "Limits" lists them with their reasons.
public enum ProtocolLimits {
    /// The major version: peers of different ones do not understand each other.
    public static let majorVersion: UInt8 = 1
    /// The minor version: what a newer one adds, an older one skips.
    public static let minorVersion: UInt64 = 0
    /// Frames before the handshake is done, in bytes.
    package static let maximumHandshakeFrame = 512
    /// Frames afterwards, in bytes: what two bytes of length can say.
    package static let maximumFrame = 65_535
    /// A whole message, in bytes.
    package static let maximumMessage = 16 << 20
    /// What a side that is not paired yet may send, in bytes.
    package static let maximumUnpairedMessage = 65_536
    /// A display name, in bytes of UTF-8.
    package static let maximumDisplayName = 64
    /// The sentence of an error, in bytes of UTF-8.
    package static let maximumErrorMessage = 1024
    /// Zones in one session.
    package static let maximumZones = 64
    /// Fields of one record, types, shapes and replicas of one batch.
    package static let maximumTableEntries = 65_536
    /// Fields of one record.
    package static let maximumFields = RecordState.maximumFieldCount
    /// Records of one batch: what a batch of small ones may grow to in memory.
    package static let maximumBatchRecords = 65_536
    /// Fields of all records of one batch together: what a batch of nulls may grow to in memory.
    package static let maximumBatchFields = 1 << 20
    /// Bytes of a field's or record type's name.
    package static let maximumIdentifier = RecordName.maximumTypeLength
    /// A message of Negentropy that this side sends, in bytes.
    package static let reconciliationFrame = 60_000
    /// Bytes of a file in one message: with what stands around them they fill one frame.
    package static let assetChunk = 65_280
    /// Bytes of files that this side has asked for and that have not come, together.
    package static let assetWindow: Int64 = 1 << 20
    /// Bytes of files that a peer may have asked for and that were not sent, together.
    package static let maximumAssetsRequested = 16 << 20
    /// Requests of a peer that wait to be answered.
    package static let maximumAssetRequests = 256
    /// Files that this side receives at a time from one peer.
    package static let openAssets = 8
    /// Files that one message tells to be there.
    package static let maximumAssetsAvailable = 1024
    /// Batches that may be on their way without an acknowledgement.
    package static let window = 64
}
