import PeerSync

/// The figures of a sync, for programs.
struct SyncFigures: Encodable {
    let sent: Int
    let received: Int
    let bytesSent: Int
    let bytesReceived: Int
    let bytes: Int
    let assetsReceived: Int
    let assetBytesReceived: Int64
    let assetBytesSent: Int64
    let seconds: Double
    let digest: String?
    let records: Int?
    /// The path of the backup of what was here, if the sync has replaced it.
    var backup: String?
    /// `passedOver` if the union that was asked for came to nothing.
    var union: String?

    init(_ statistics: SessionStatistics, _ digest: ZoneDigest?) {
        sent = statistics.recordsSent
        received = statistics.recordsReceived
        bytesSent = statistics.bytesSent
        bytesReceived = statistics.bytesReceived
        bytes = bytesSent + bytesReceived
        assetsReceived = statistics.assetsReceived
        assetBytesReceived = statistics.assetBytesReceived
        assetBytesSent = statistics.assetBytesSent
        seconds = statistics.seconds
        self.digest = digest?.hex
        records = digest.map { Int($0.count) }
    }
}
