import Foundation
import Testing

@testable import PeerSync

/// Lets only a few tests run at a time: each starts several processes, and all of them share the cores.
struct TakingTurns: SuiteTrait, TestTrait, TestScoping {
    private static let turns = AsyncSemaphore(ProcessInfo.processInfo.activeProcessorCount * 2)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Self.turns.wait()
        defer { Self.turns.signal() }
        try await function()
    }
}

extension Trait where Self == TakingTurns {
    static var takingTurns: Self { Self() }
}
