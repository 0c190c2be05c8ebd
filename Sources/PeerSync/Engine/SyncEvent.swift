import Foundation
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// An event in the engine that a person may want to see.
public enum SyncEvent: Sendable {
    /// The engine takes connections at this address.
    case listening(host: String, port: Int)
    /// A machine tried the pairing code and failed.
    case pairingFailed(address: String, attemptsLeft: Int)
    /// A machine was paired.
    case paired(name: String)
    /// A machine is a peer from now on, because another one has introduced it. That one's name is nil if nobody here
    /// knows it.
    case introduced(name: String, by: String?)
    /// A machine is a peer no more, because another one has removed it from the household.
    case removed(name: String, by: String?)
    /// A machine is paired with this one, and nobody has introduced it to the others: ``SyncEngine/introduce(_:)``. Told once
    /// for each machine.
    case notIntroduced(name: String)
    /// The engine turned away a stranger, or something that is no peer. The first refusals are told one by one.
    case refused(address: String, PeerSyncError)
    /// The engine turned away more strangers since the last such event; the last of them came from this address.
    case refusedMore(count: Int, address: String, PeerSyncError)
    /// A session with a peer has begun.
    case connected(name: String, address: String)
    /// Records have moved; the numbers are those of the session so far, and what is left, as far as that is known.
    case progress(name: String, SessionStatistics)
    /// Records of a peer changed the tables of this store, in a zone; its name is nil for the default one. Told after each
    /// transaction; ``inSync(name:zone:_:_:)`` tells when no more are on their way.
    case changed(name: String, zone: String?, ArrivedChanges)
    /// Changes that would take away much of a zone wait for a person: ``/PeerSyncStore/StoreFuse``. The name is that of the peer
    /// that sent them; nil for programs on this machine, whose changes are not sent. The zone's name is nil for the default one,
    /// and for all zones if there is no peer.
    case withheld(name: String?, zone: String?, count: Int)
    /// Both sides hold the same records in a zone; its name is nil for the default one.
    case inSync(name: String, zone: String?, ZoneDigest, SessionStatistics)
    /// A check of every record of this store has found something wrong, and mended it.
    case mended(StoreCheck)
    /// Files are moving. Each progress says what has moved and what is left.
    case assetProgress(name: String, receiving: AssetProgress, sending: AssetProgress)
    /// Files have come, and no more are on their way. `unavailable` counts those that the peer does not have.
    case assetsReceived(name: String, AssetStatus.Count, unavailable: Int)
    /// Files cannot be written, for example because the disk is full. Records go on; files go on when they can.
    case assetsPaused(name: String, PeerSyncError)
    /// A sync that was asked for once ends, although the other machine has not confirmed that it has the files it
    /// wants.
    case assetsUnsettled(name: String)
    /// A file of this store was damaged, and is put aside. It comes again if another machine has it.
    case assetDamaged(AssetHash)
    /// A peer refused some of this machine's records.
    case peerRefusedRecords(name: String, [RecordName], RefusedRecord.Reason)
    /// This machine refused some of a peer's records.
    case refusedPeersRecords(name: String, [RecordName], RefusedRecord.Reason)
    /// This store now has a zone of a peer, beside its own.
    case zoneTakenUp(name: String, zone: String)
    /// A peer lets this machine have a zone, which stays away until somebody here says otherwise: it is here, and the peer has no right in
    /// it, or it was deleted here. Told once.
    case zoneOffered(name: String, zone: String, isDeleted: Bool)
    /// The engine cannot take in what other programs write to this store, and so cannot send it. Told once for each
    /// reason; the engine keeps trying.
    case storeTrouble(PeerSyncError)
    /// The engine takes in what other programs write again.
    case storeTroubleEnded
    /// What ``SyncEngine/start()`` has begun has ended because of an error. Another ``SyncEngine/start()`` begins anew.
    case syncEnded(PeerSyncError)
    /// The peer's records replaced this store's; the backup holds the old ones.
    case replaced(name: String, backup: URL)
    /// The union that somebody wanted for the two default zones came to nothing: they are one already, or the two machines do not
    /// have theirs in common.
    case unionPassedOver(name: String, union: ZoneUnion, areOne: Bool)
    /// A session has ended; the error is nil when a goodbye ended it.
    case disconnected(name: String, PeerSyncError?)
    /// Machines on this network cannot be found, nor find this one: the system's service for that does not run. Told once;
    /// the engine keeps trying, and everything else goes on.
    case discoveryTrouble(PeerSyncError)
    /// Machines on this network can be found again.
    case discoveryTroubleEnded
    /// The next attempt to connect, or to listen (`cannotListen`), comes after this many seconds. Told once for each reason until both sides are in sync again;
    /// further attempts come after longer pauses.
    case retrying(address: String, seconds: Double, PeerSyncError)
}

/// The counts of a session so far.
public struct SessionStatistics: Sendable, Equatable {
    /// Records sent, deletions included.
    public var recordsSent = 0
    /// Records received, deletions included.
    public var recordsReceived = 0
    /// Records that are still to be sent, over all zones, as far as the engine has counted them: where more than one batch
    /// goes, and after a comparison of everything. It is too great when a whole copy goes on where it was cut off.
    public var recordsLeftToSend = 0
    /// Records that are still to come, over all zones; nil if this machine does not know. It knows it when it began with
    /// nothing, but for deletions, and when the last ones have come.
    public var recordsLeftToReceive: Int?
    /// Files received.
    public var assetsReceived = 0
    /// Bytes of files received.
    public var assetBytesReceived: Int64 = 0
    /// Bytes of files sent.
    public var assetBytesSent: Int64 = 0
    /// Bytes sent on the connection, handshake and encryption included.
    public var bytesSent = 0
    /// Bytes received on the connection, handshake and encryption included.
    public var bytesReceived = 0
    /// How many messages of the comparison of everything this side has received.
    public var reconciliationRounds = 0
    /// Seconds since the connection was made.
    public var seconds = 0.0

    /// Makes counts of a session that has not begun.
    public init() {}
}

/// The result of a sync that was asked for once.
public struct SyncReport: Sendable {
    /// This machine's name for the peer.
    public let peer: String
    /// The counts of the session.
    public let statistics: SessionStatistics
    /// The digest that both sides hold.
    public let digest: ZoneDigest
    /// Whether this sync also paired the machines.
    public let didPair: Bool
    /// The differences, if the sync was to compare everything.
    public let differences: SyncDifferences?
    /// What a check of every record of this store found wrong, and mended; nil without a check, or when nothing was
    /// wrong.
    public let mended: StoreCheck?

    /// Makes a report for previews and tests of an app; see the properties.
    public init(
        peer: String, statistics: SessionStatistics = SessionStatistics(), digest: ZoneDigest = ZoneDigest(),
        didPair: Bool = false, differences: SyncDifferences? = nil, mended: StoreCheck? = nil
    ) {
        self.peer = peer
        self.statistics = statistics
        self.digest = digest
        self.didPair = didPair
        self.differences = differences
        self.mended = mended
    }
}
