import Testing

@testable import PeerSync

/// So many take a turn at a time, the others in the order in which they came.
@Suite(.timeLimit(.minutes(5))) struct TurnsTests {
    @Test func turnsGoToThoseWhoWaitInTheirOrder() async throws {
        let turns = Turns(1)
        try await turns.take()
        let (order, add) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    try await turns.take()
                    add.yield(number)
                    turns.giveBack()
                }
                while turns.waiting <= number { await Task.yield() }
            }
            turns.giveBack()
            try await group.waitForAll()
        }
        add.finish()
        var got: [Int] = []
        for await number in order { got.append(number) }
        #expect(got == [0, 1, 2])
        try await turns.take()
    }

    @Test func whoIsCancelledLeavesTheLine() async throws {
        let turns = Turns(1)
        try await turns.take()
        let waiting = Task { try await turns.take() }
        while turns.waiting == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(turns.waiting == 0)
        turns.giveBack()
        try await turns.take()
    }

    /// Nobody stands in line for a task that was cancelled before it came to it.
    @Test func whoIsCancelledBeforeTakesNoTurn() async throws {
        let turns = Turns(1)
        try await turns.take()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await turns.take()
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(turns.waiting == 0)
        turns.giveBack()
        try await turns.take()
    }

    @Test func soManyTurnsAreTakenAtATime() async throws {
        let turns = Turns(2)
        try await turns.take()
        try await turns.take()
        let third = Task { try await turns.take() }
        while turns.waiting == 0 { await Task.yield() }
        turns.giveBack()
        try await third.value
        #expect(turns.waiting == 0)
    }
}
