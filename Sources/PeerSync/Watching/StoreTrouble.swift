import Logging

/// The reporter of failed reads of this machine's store: tells the user once for each reason, and again when reads
/// succeed.
///
/// Until then no session hears of what other programs write here, or of what the user decides.
struct StoreTrouble: Sendable {
    /// What the engine reads.
    enum Subject: Sendable {
        /// The writes of other programs.
        case changes
        /// The user's decisions about sync.
        case settings
    }

    private let trouble: Trouble<Subject>
    private let logger: Logger

    init(_ logger: Logger, onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.logger = logger
        trouble = Trouble {
            onEvent(.storeTrouble($0))
        } ended: {
            onEvent(.storeTroubleEnded)
        }
    }

    /// Does nothing in a cancelled task: GRDB throws when such a task accesses the store, which is an ordinary end.
    func failed(_ subject: Subject, because error: any Error) {
        guard !Task.isCancelled else { return }
        logger.warning("a look at the store failed: \(error)")
        trouble.failed(subject, because: PeerSyncError(store: error))
    }

    func succeeded(_ subject: Subject) { trouble.succeeded(subject) }
}
