import Foundation
import Testing

/// Whatever happens to machines and to the storage, machines that share a mailbox come to the same, and leave nothing behind.
@Suite(.timeLimit(.minutes(30))) struct MailboxSimulationTests {
    /// More of them run with SCOREBOOK_MAILBOX_SEEDS, as in `SCOREBOOK_MAILBOX_SEEDS=1-500`.
    static let seeds: [UInt64] = {
        let bounds = ProcessInfo.processInfo.environment["SCOREBOOK_MAILBOX_SEEDS"]?.split(separator: "-")
            .compactMap { UInt64($0) }
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return Array(1...10) }
        return Array(bounds[0]...bounds[1])
    }()

    @Test(arguments: seeds) func machinesThatShareAMailboxConverge(seed: UInt64) async throws {
        try await MailboxSimulation.run(seed: seed)
    }
}
