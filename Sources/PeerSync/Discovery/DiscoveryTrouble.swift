/// The reporter of failing discovery: tells the app when the first part of it fails, and when the last one works again.
struct DiscoveryTrouble: Sendable {
    enum Part {
        case announcing, finding
    }

    private static let reason = PeerSyncError(
        .noDiscovery, "machines on this network cannot be found, nor find this one, at this moment")

    private let trouble: Trouble<Part>

    init(onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        trouble = Trouble {
            onEvent(.discoveryTrouble($0))
        } ended: {
            onEvent(.discoveryTroubleEnded)
        }
    }

    func failed(_ part: Part) { trouble.failed(part, because: Self.reason) }

    func succeeded(_ part: Part) { trouble.succeeded(part) }
}
