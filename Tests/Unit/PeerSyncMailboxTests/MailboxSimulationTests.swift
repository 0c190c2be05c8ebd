import MailboxSimulator
import Testing

/// Whatever happens to machines and to the storage, machines that share a mailbox come to the same, and leave nothing behind.
/// `scripts/simulate --mailboxes` runs more seeds.
@Suite(.timeLimit(.minutes(30))) struct MailboxSimulationTests {
    @Test(arguments: UInt64(1)...10) func machinesThatShareAMailboxConverge(seed: UInt64) async throws {
        try await MailboxSimulation.run(seed: seed)
    }
}
