import PeerSync

/// What the pages about machines need beside the scorebook.
public struct PageMachines: Sendable {
    /// One thing that keeps this machine from syncing, or that is well, in words.
    public struct Finding: Sendable {
        let severity: PeerSync.Finding.Severity
        let text: String

        /// Makes a value of its parts.
        ///
        /// - Parameters:
        ///   - severity: how much it matters.
        ///   - text: a sentence for people, with what to do.
        public init(_ severity: PeerSync.Finding.Severity, _ text: String) {
            self.severity = severity
            self.text = text
        }
    }

    let engine: SyncEngine
    let isSyncing: Bool
    let questions: MeetingQuestions
    let mailboxes: any PageMailboxes
    let examine: @Sendable () async throws -> [Finding]

    /// Makes a value of its parts.
    ///
    /// - Parameters:
    ///   - engine: the engine of the same scorebook. It pairs, and looks for machines.
    ///   - isSyncing: whether this program also keeps the scorebook in step with other machines, while sync is switched on.
    ///   - questions: asks on the page what the engine's `decide` is asked, if that hands it over.
    ///   - mailboxes: the mailboxes of this machine.
    ///   - examine: looks for what keeps this machine from syncing; may take some seconds.
    public init(
        engine: SyncEngine, isSyncing: Bool, questions: MeetingQuestions = MeetingQuestions(),
        mailboxes: any PageMailboxes,
        examine: @escaping @Sendable () async throws -> [Finding]
    ) {
        self.engine = engine
        self.isSyncing = isSyncing
        self.questions = questions
        self.mailboxes = mailboxes
        self.examine = examine
    }
}
