import PeerSync

/// Lets one pass over a mailbox run after the other, with what they remember.
actor MailboxTurns {
    private var memory = MailboxPass.Memory()
    private let turns = AsyncSemaphore(1)

    /// - Throws: `CancellationError` also when the task is cancelled before its turn; what `body` throws.
    func take<Value: Sendable>(
        _ body: @Sendable (inout MailboxPass.Memory) async throws -> Value
    ) async throws -> Value {
        try await turns.wait()
        defer { turns.signal() }
        try Task.checkCancellation()
        var current = memory
        defer { memory = current }
        return try await body(&current)
    }
}
