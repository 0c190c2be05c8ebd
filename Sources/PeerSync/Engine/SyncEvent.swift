import Foundation
import RecordStore
import SecureChannel
import SyncModel
import SyncProtocol

/// What happens in the engine that a person may want to see.
public enum SyncEvent: Sendable {
    /// Connections are taken at this address.
    case listening(host: String, port: Int)
    /// This code pairs one machine within the next five minutes.
    case pairingCode(PairingCode)
    /// A machine tried the pairing code and failed.
    case pairingFailed(address: String, attemptsLeft: Int)
    /// A machine was paired.
    case paired(name: String)
    /// A stranger, or something that is no peer, was turned away. The first ones are told one by one.
    case refused(address: String, PeerSyncError)
    /// More strangers were turned away since this was told last, or one by one; the last of them from this address.
    case refusedMore(count: Int, address: String, PeerSyncError)
    /// A session with a peer has begun.
    case connected(name: String, address: String)
    /// Records have moved; the numbers are those of the session so far.
    case progress(name: String, SessionStatistics)
    /// Both sides hold the same records in a zone; its name is nil for the default one.
    case inSync(name: String, zone: String?, ZoneDigest, SessionStatistics)
    /// A look at every record of this store has found something wrong, and mended it.
    case mended(StoreCheck)
    /// Files are on their way; for each direction what has gone and what is left.
    case assetProgress(name: String, receiving: AssetProgress, sending: AssetProgress)
    /// Files have come, and no more are under way now. `unavailable` counts those that the peer does not have.
    case assetsReceived(name: String, AssetStatus.Count, unavailable: Int)
    /// Files cannot be written, as when the disk is full. Records go on; the files do when they can.
    case assetsPaused(name: String, PeerSyncError)
    /// A sync that was asked for once ends, although the other machine has not said that it has the files it wants.
    case assetsUnsettled(name: String)
    /// A file of this store was found to be damaged, and is fetched again.
    case assetDamaged(AssetHash)
    /// A peer does not take some of this machine's records.
    case peerRefusedRecords(name: String, [RecordName], RefusedRecord.Reason)
    /// Records of a peer were not taken here.
    case refusedPeersRecords(name: String, [RecordName], RefusedRecord.Reason)
    /// A zone of a peer is here now, beside the others.
    case zoneTakenUp(name: String, zone: String)
    /// What other programs write to this store cannot be taken in, and so is not sent. Told once for each reason; it is
    /// tried again all the time.
    case storeTrouble(PeerSyncError)
    /// What other programs write is taken in again.
    case storeTroubleEnded
    /// What was here was given up for what the peer has; it is in the backup.
    case replaced(name: String, backup: URL)
    /// A session has ended; the error is nil when a goodbye ended it.
    case disconnected(name: String, PeerSyncError?)
    /// The next attempt comes after this many seconds. Told once for each reason until both sides hold the same again;
    /// further attempts come after longer pauses.
    case retrying(address: String, seconds: Double, PeerSyncError)
}

/// What a session has moved so far.
public struct SessionStatistics: Sendable, Equatable {
    /// Records sent and received, deletions included.
    public var recordsSent = 0
    public var recordsReceived = 0
    /// Files, and bytes of files.
    public var assetsReceived = 0
    public var assetBytesReceived: Int64 = 0
    public var assetBytesSent: Int64 = 0
    /// Bytes on the connection, handshake and encryption included.
    public var bytesSent = 0
    public var bytesReceived = 0
    /// How many times this side was answered, or asked, in comparing everything.
    public var reconciliationRounds = 0
    /// Since the connection was made.
    public var seconds = 0.0

    public init() {}
}

/// How a sync that was asked for once ended.
public struct SyncReport: Sendable {
    /// What this machine calls the peer.
    public let peer: String
    public let statistics: SessionStatistics
    /// The digest that both sides hold.
    public let digest: ZoneDigest
    /// Whether the machines were paired on this occasion.
    public let didPair: Bool
    /// What was found to differ, if everything was to be compared.
    public let differences: SyncDifferences?
    /// What a look at every record of this store found wrong, and mended; nil when there was none, or nothing was wrong.
    public let mended: StoreCheck?
}
