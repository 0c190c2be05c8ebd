import Synchronization

/// The reporter of failing discovery: tells the app when the first part of it fails, and when the last one works again.
final class DiscoveryTrouble: Sendable {
    enum Part {
        case announcing, finding
    }

    private let failing = Mutex<Set<Part>>([])

    func failed(_ part: Part, _ engine: SyncEngine) {
        let isFirst = failing.withLock { failing in
            defer { failing.insert(part) }
            return failing.isEmpty
        }
        guard isFirst else { return }
        engine.onEvent(
            .discoveryTrouble(
                PeerSyncError(
                    .noDiscovery,
                    "machines on this network cannot be found, nor find this one, at this moment")))
    }

    func succeeded(_ part: Part, _ engine: SyncEngine) {
        let isLast = failing.withLock { $0.remove(part) != nil && $0.isEmpty }
        if isLast { engine.onEvent(.discoveryTroubleEnded) }
    }
}
