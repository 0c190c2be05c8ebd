import Testing

@testable import PeerSync

/// Being told to end is no error, at whatever moment.
struct WatchEndTests {
    @Test func aWatchThatIsCancelledBeforeItBeginsJustEnds() async throws {
        let engine = try LoopbackMachine("kitchen").engine
        let watch = Task {
            while !Task.isCancelled { await Task.yield() }
            try await engine.watchStore()
        }
        watch.cancel()
        try await watch.value
    }
}
