import Foundation
import Testing

/// Lets only a few tests run at a time: each starts several processes, and all of them share the cores.
struct TakingTurns: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount * 2)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        await Self.turns.take()
        do {
            try await function()
        } catch {
            await Self.turns.giveBack()
            throw error
        }
        await Self.turns.giveBack()
    }
}

extension Trait where Self == TakingTurns {
    static var takingTurns: Self { Self() }
}

/// A number of turns; who comes when all are taken waits in line.
private actor Turns {
    private var free: Int
    private var line: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        free = count
    }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    func giveBack() {
        guard !line.isEmpty else {
            free += 1
            return
        }
        line.removeFirst().resume()
    }
}
