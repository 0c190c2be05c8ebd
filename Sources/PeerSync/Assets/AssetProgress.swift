import PeerSyncProtocol

/// The progress of files in one direction of a session.
public struct AssetProgress: Sendable {
    /// Bytes moved since the session began.
    public private(set) var bytes: Int64 = 0
    /// The number of files that are still to move.
    public var filesLeft: Int { Int(clamping: left.files) }
    /// The number of bytes that are still to move.
    public var bytesLeft: Int64 { Int64(clamping: left.bytes) }
    /// The rate over about the last five seconds, in bytes per second.
    public private(set) var bytesPerSecond = 0.0

    var left = Message.AssetsWanted(files: 0, bytes: 0)

    /// The length of a measurement. Newer measurements weigh more.
    private static let span: Duration = .milliseconds(500)
    private var spanBegin: ContinuousClock.Instant?
    private var spanBytes: Int64 = 0

    mutating func add(_ count: Int, left: Message.AssetsWanted, at now: ContinuousClock.Instant = .now) {
        self.left = left
        bytes += Int64(count)
        spanBytes += Int64(count)
        let begin = spanBegin ?? now
        spanBegin = begin
        guard now - begin >= Self.span else { return }
        let rate = Double(spanBytes) / ((now - begin) / .seconds(1))
        // After a pause the old rate says nothing.
        let isFresh = bytesPerSecond == 0 || now - begin > Self.span * 10
        bytesPerSecond = isFresh ? rate : bytesPerSecond * 0.8 + rate * 0.2
        spanBegin = now
        spanBytes = 0
    }

    /// The seconds until the rest has moved; nil when nothing moves.
    public var secondsLeft: Double? {
        bytesPerSecond > 0 ? Double(bytesLeft) / bytesPerSecond : nil
    }
}
