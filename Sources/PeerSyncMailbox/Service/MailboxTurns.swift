/// Lets one pass over a mailbox run after the other, with what they remember.
actor MailboxTurns {
    private var memory = MailboxPass.Memory()
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take<Value: Sendable>(
        _ body: @Sendable (inout MailboxPass.Memory) async throws -> Value
    ) async throws -> Value {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
        defer {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
        try Task.checkCancellation()
        var current = memory
        defer { memory = current }
        return try await body(&current)
    }
}
