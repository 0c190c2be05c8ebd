import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSyncStore
import TestSupport
import Testing

/// Machines that meet in no session forget deletions and overwritten values too.
struct MailboxForgettingTests {
    private let clock = SetClock(1_700_000_000_000)
    private let machines: [MailboxMachine]

    /// Three machines; one of two items is overwritten, and the other one deleted, which two of them know.
    init() async throws {
        machines = try await MailboxMachine.paired(["a", "b", "c"], MemoryDisk(), clock: clock)
        try await machines[0].add(1...2)
        try await MailboxMachine.settle(machines)
        clock.milliseconds += 1000
        try await machines[1].write(
            "UPDATE Item SET title = 'x' WHERE id = '1'; DELETE FROM Item WHERE id = '2'")
        try await MailboxMachine.settle(Array(machines.prefix(2)))
        clock.milliseconds += StoreUpkeep.defaultRetention + 1
    }

    private func tombstones(_ machine: MailboxMachine) async throws -> Int {
        try await machine.store.database.read { try machine.store.status($0).tombstones }
    }

    private func history(_ machine: MailboxMachine) async throws -> Int {
        try await machine.store.database.read { try machine.store.history.entries($0, since: 0).count }
    }

    /// Heads that machines put for other reasons say what they have read.
    @Test func whatAllHaveReadIsForgotten() async throws {
        #expect(try await history(machines[0]) > 0)
        try await MailboxMachine.settle(machines)
        try await writeEverywhere(3)
        clock.milliseconds += StoreUpkeep.defaultRetention + 1
        try await MailboxMachine.settle(machines)
        for machine in machines {
            #expect(try await tombstones(machine) == 0)
            #expect(try await history(machine) == 0)
        }
        // Nobody was away for too long.
        try await writeEverywhere(6)
        for machine in machines { #expect(machine.stops.isEmpty) }
        try await MailboxMachine.expectEqual(machines)
    }

    /// Lets each machine write an item, with ids from a number on, and read those of the others.
    private func writeEverywhere(_ first: Int) async throws {
        for (index, machine) in machines.enumerated() {
            try await machine.add(first + index...first + index)
            try await MailboxMachine.settle(machines)
        }
    }

    @Test func whatAMachineHasNotReadIsKept() async throws {
        try await MailboxMachine.settle(Array(machines.prefix(2)))
        for machine in machines.prefix(2) { #expect(try await tombstones(machine) == 1) }
        try await MailboxMachine.settle(machines)
        #expect(try await machines[2].titles() == ["x"])
        try await MailboxMachine.expectEqual(machines)
    }
}
