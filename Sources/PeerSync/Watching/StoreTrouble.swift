import Logging
import Synchronization

/// Tells the user that this machine's store cannot be looked at, once for each reason, and that it can be again.
///
/// As long as it cannot, no session hears of what other programs write here, or of what its user decides.
final class StoreTrouble: Sendable {
    /// What is looked for.
    enum Subject: Sendable {
        /// What other programs have written.
        case changes
        /// What the user has decided about sync.
        case settings
    }

    private let told = Mutex<[Subject: Set<String>]>([:])
    private let logger: Logger
    private let onEvent: @Sendable (SyncEvent) -> Void

    init(_ logger: Logger, onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.logger = logger
        self.onEvent = onEvent
    }

    func failed(_ subject: Subject, because error: any Error) {
        logger.warning("a look at the store failed: \(error)")
        let reason = PeerSyncError(store: error)
        let isNews = told.withLock { told in
            let isNews = !told.values.contains { $0.contains(reason.message) }
            told[subject, default: []].insert(reason.message)
            return isNews
        }
        if isNews { onEvent(.storeTrouble(reason)) }
    }

    func succeeded(_ subject: Subject) {
        let isOver = told.withLock { told in told.removeValue(forKey: subject) != nil && told.isEmpty }
        if isOver { onEvent(.storeTroubleEnded) }
    }
}
