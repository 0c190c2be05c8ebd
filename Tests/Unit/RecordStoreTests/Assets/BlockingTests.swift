import Dispatch
import Foundation
import PeerSyncStore
import Testing

/// Calls that block, as those of files on a disk that is slow.
struct BlockingTests {
    /// On Linux all tasks of a program run in a thread for each core.
    @Test(.timeLimit(.minutes(5))) func callsThatBlockLeaveThreadsToTasks() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 60
        let mayEnd = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let areInTime = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await blocking {
                        begin.yield()
                        return mayEnd.wait(timeout: .now() + 20) == .success
                    }
                }
            }
            var left = count
            for await _ in begun {
                left -= 1
                if left == 0 { break }
            }
            for _ in 0..<count { mayEnd.signal() }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(areInTime)
    }
}
