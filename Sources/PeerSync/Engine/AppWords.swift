/// The words of an app, for what the engine writes down and people read later.
public struct AppWords: Sendable {
    /// How the names of backups begin. The time follows.
    public let backupName: String
    /// The text that the store keeps of an error which ended a session (``Peer/lastError``).
    public let explanation: @Sendable (PeerSyncError) -> String

    public init(
        backupName: String = "backup",
        explanation: @escaping @Sendable (PeerSyncError) -> String = { $0.message }
    ) {
        self.backupName = backupName
        self.explanation = explanation
    }
}
