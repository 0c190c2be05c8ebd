import Testing

@testable import PeerSync

struct TurnsTests {
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
}
