import Synchronization

/// The reporter of what fails in some part of the engine: tells the app once for each reason, and again when all parts work.
final class Trouble<Part: Hashable & Sendable>: Sendable {
    private let told = Mutex<[Part: Set<String>]>([:])
    private let began: @Sendable (PeerSyncError) -> Void
    private let ended: @Sendable () -> Void

    /// - Parameters:
    ///   - began: called for each new reason. Like `ended` it is called under a lock, so that the app hears of beginnings and
    ///     ends in the order in which they happened.
    ///   - ended: called when the last part that failed works again.
    init(
        began: @escaping @Sendable (PeerSyncError) -> Void, ended: @escaping @Sendable () -> Void
    ) {
        self.began = began
        self.ended = ended
    }

    func failed(_ part: Part, because reason: PeerSyncError) {
        told.withLock { told in
            let isNews = !told.values.contains { $0.contains(reason.message) }
            told[part, default: []].insert(reason.message)
            if isNews { began(reason) }
        }
    }

    func succeeded(_ part: Part) {
        told.withLock { told in
            if told.removeValue(forKey: part) != nil, told.isEmpty { ended() }
        }
    }
}
