import Logging
import Synchronization

/// The reporter of failed reads of this machine's store: tells the user once for each reason, and again when reads
/// succeed.
///
/// Until then no session hears of what other programs write here, or of what the user decides.
final class StoreTrouble: Sendable {
    /// What the engine reads.
    enum Subject: Sendable {
        /// The writes of other programs.
        case changes
        /// The user's decisions about sync.
        case settings
    }

    private let told = Mutex<[Subject: Set<String>]>([:])
    private let logger: Logger
    private let onEvent: @Sendable (SyncEvent) -> Void

    init(_ logger: Logger, onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.logger = logger
        self.onEvent = onEvent
    }

    /// Does nothing in a cancelled task: GRDB throws when such a task accesses the store, which is an ordinary end.
    func failed(_ subject: Subject, because error: any Error) {
        guard !Task.isCancelled else { return }
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
