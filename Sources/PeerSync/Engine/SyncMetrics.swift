import CoreMetrics

/// The engine's counts for the metrics system that the app has chosen (swift-metrics). Without one they cost next to
/// nothing.
///
/// | label | kind | of what |
/// | --- | --- | --- |
/// | `peer_sync_sessions` | meter | sessions with paired machines that are open now |
/// | `peer_sync_records_sent`, `…_received` | counter | records, deletions included |
/// | `peer_sync_bytes_sent`, `…_received` | counter | bytes on connections, handshakes and encryption included |
/// | `peer_sync_apply_seconds` | timer | from a batch of a peer to its commit |
/// | `peer_sync_failures` | counter | sessions with paired machines that ended with an error, by `code` |
struct SyncMetrics: Sendable {
    private let factory: any MetricsFactory
    private let sessions: Meter
    private let recordsSent: Counter
    private let recordsReceived: Counter
    private let bytesSent: Counter
    private let bytesReceived: Counter
    private let applySeconds: Timer

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        sessions = Meter(label: "peer_sync_sessions", factory: factory)
        recordsSent = Counter(label: "peer_sync_records_sent", factory: factory)
        recordsReceived = Counter(label: "peer_sync_records_received", factory: factory)
        bytesSent = Counter(label: "peer_sync_bytes_sent", factory: factory)
        bytesReceived = Counter(label: "peer_sync_bytes_received", factory: factory)
        applySeconds = Timer(label: "peer_sync_apply_seconds", factory: factory)
    }

    func sessionBegan() { sessions.increment() }

    func sessionEnded(_ error: PeerSyncError?) {
        sessions.decrement()
        guard let error else { return }
        Counter(
            label: "peer_sync_failures", dimensions: [("code", error.code.description)], factory: factory
        ).increment()
    }

    /// Counts what a session has moved since `before`.
    func moved(since before: SessionStatistics, _ now: SessionStatistics) {
        for (counter, field) in [
            (recordsSent, \SessionStatistics.recordsSent), (recordsReceived, \.recordsReceived),
            (bytesSent, \.bytesSent), (bytesReceived, \.bytesReceived),
        ] where now[keyPath: field] > before[keyPath: field] {
            counter.increment(by: now[keyPath: field] - before[keyPath: field])
        }
    }

    func applied(in duration: Duration) { applySeconds.recordSeconds(duration / .seconds(1)) }
}
