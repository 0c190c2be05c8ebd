import Testing

@testable import PeerSync

/// So many take a turn at a time, the others in the order in which they came.
@Suite(.timeLimit(.minutes(5))) struct AsyncSemaphoreTests {
    @Test func turnsGoToThoseWhoWaitInTheirOrder() async throws {
        let semaphore = AsyncSemaphore(1)
        try await semaphore.wait()
        let (order, add) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    try await semaphore.wait()
                    add.yield(number)
                    semaphore.signal()
                }
                while semaphore.waiting <= number { await Task.yield() }
            }
            semaphore.signal()
            try await group.waitForAll()
        }
        add.finish()
        var got: [Int] = []
        for await number in order { got.append(number) }
        #expect(got == [0, 1, 2])
        try await semaphore.wait()
    }

    @Test func whoIsCancelledLeavesTheLine() async throws {
        let semaphore = AsyncSemaphore(1)
        try await semaphore.wait()
        let waiting = Task { try await semaphore.wait() }
        while semaphore.waiting == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(semaphore.waiting == 0)
        semaphore.signal()
        try await semaphore.wait()
    }

    /// Nobody stands in line for a task that was cancelled before it came to it.
    @Test func whoIsCancelledBeforeTakesNoTurn() async throws {
        let semaphore = AsyncSemaphore(1)
        try await semaphore.wait()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.wait()
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(semaphore.waiting == 0)
        semaphore.signal()
        try await semaphore.wait()
    }

    @Test func soManyTurnsAreTakenAtATime() async throws {
        let semaphore = AsyncSemaphore(2)
        try await semaphore.wait()
        try await semaphore.wait()
        let third = Task { try await semaphore.wait() }
        while semaphore.waiting == 0 { await Task.yield() }
        semaphore.signal()
        try await third.value
        #expect(semaphore.waiting == 0)
    }
}
