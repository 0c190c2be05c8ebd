/// The words of an app, for texts that the engine stores and people read later.
public struct AppWords: Sendable {
    /// The beginning of the names of backups. The time follows.
    public let backupName: String
    /// Gives the text of an error that ended a session, which the store keeps (``/PeerSyncStore/Peer/lastError``).
    public let explanation: @Sendable (PeerSyncError) -> String

    /// Makes the words of an app. What it leaves out is in the words of the engine.
    ///
    /// - Parameters:
    ///   - backupName: see ``backupName``.
    ///   - explanation: see ``explanation``.
    public init(
        backupName: String = "backup",
        explanation: @escaping @Sendable (PeerSyncError) -> String = { $0.message }
    ) {
        self.backupName = backupName
        self.explanation = explanation
    }
}
