import PeerSyncModel

/// The numbers of the protocol. Protocol/ "Limits" lists them with their reasons.
public enum ProtocolLimits {
    /// The major version. Peers with different major versions do not understand each other.
    public static let majorVersion: UInt8 = 1
    /// The minor version. A peer with an older one skips the additions of a newer one.
    public static let minorVersion: UInt64 = 0
    /// The longest frame before the handshake is done, in bytes.
    package static let maximumHandshakeFrame = 512
    /// The longest frame after the handshake, in bytes: the greatest number in two bytes.
    package static let maximumFrame = 65_535
    /// The longest message, in bytes.
    package static let maximumMessage = 16 << 20
    /// The longest message from a side that is not paired yet, in bytes.
    package static let maximumUnpairedMessage = 65_536
    /// The longest display name, in bytes of UTF-8.
    package static let maximumDisplayName = 64
    /// The longest sentence of an error, in bytes of UTF-8.
    package static let maximumErrorMessage = 1024
    /// The most zones in one session.
    package static let maximumZones = ZoneID.maximumCount
    /// The most types, shapes or replicas in one batch, and the most records that one message names.
    package static let maximumTableEntries = 65_536
    /// The most fields of one record.
    package static let maximumFields = RecordState.maximumFieldCount
    /// The most records in one batch. This bounds the memory for a batch of small records.
    package static let maximumBatchRecords = 65_536
    /// The most fields of all records in one batch together. This bounds the memory for a batch of nulls.
    package static let maximumBatchFields = 1 << 20
    /// The longest name of a field or record type, in bytes.
    package static let maximumIdentifier = RecordName.maximumTypeLength
    /// The most questions, and answers, of a reconciliation.
    package static let maximumReconciliationRounds = 100_000
    /// The longest message of Negentropy that this side sends, in bytes.
    package static let reconciliationFrame = 60_000
    /// The most bytes of a file in one message. With the rest of the message they fill one frame.
    package static let assetChunk = 65_280
    /// The most bytes of files that this side has requested and not received yet, together.
    package static let assetWindow: Int64 = 1 << 20
    /// The most bytes of files that a peer may have requested and this side has not sent yet, together.
    package static let maximumAssetsRequested = 16 << 20
    /// The most requests of a peer that wait for an answer.
    package static let maximumAssetRequests = 256
    /// The most files that this side receives from one peer at a time.
    package static let openAssets = 8
    /// The most files that one message reports as available.
    package static let maximumAssetsAvailable = 1024
    /// The most addresses in one message.
    package static let maximumAddresses = 4 * Household.maximumCount
    /// The longest address, in bytes.
    package static let maximumAddress = 255
    /// The most batches of one zone on their way without an acknowledgement.
    package static let window = 64
}
