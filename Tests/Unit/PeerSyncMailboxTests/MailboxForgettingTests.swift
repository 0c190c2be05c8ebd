import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
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

    /// Passes the time after which deletions are forgotten. The first look after it only notes the time.
    private func afterHalfAYear(_ body: () async throws -> Void) async throws {
        clock.milliseconds += StoreUpkeep.defaultRetention + 1
        try await body()
        clock.milliseconds += 24 * 3600 * 1000
        try await body()
    }

    /// Heads that machines put for other reasons say what they have read.
    @Test func whatAllHaveReadIsForgotten() async throws {
        #expect(try await history(machines[0]) > 0)
        try await MailboxMachine.settle(machines)
        try await writeEverywhere(3)
        try await afterHalfAYear { try await MailboxMachine.settle(machines) }
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
    private func writeEverywhere(_ first: Int) async throws { try await writeEverywhere(machines, first) }

    private func writeEverywhere(_ machines: [MailboxMachine], _ first: Int) async throws {
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

    /// The kitchen leaves to papa what papa wrote. The study reads the kitchen's log to its end, and papa's does not come.
    @Test func aDeletionThatLiesInALogThatAReaderHasNotReadIsKept() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["kitchen", "study", "papa"], disk, clock: clock)
        let (kitchen, study, papa) = (machines[0], machines[1], machines[2])
        try await kitchen.add(1...2)
        try await MailboxMachine.settle(machines)
        let before = Set(disk.objects.keys)
        try await papa.write("DELETE FROM Item WHERE id = '2'")
        try await papa.sync()
        let deletion = disk.objects.filter { !before.contains($0.key) && $0.key.folder == papa.author.folder }
        try await kitchen.sync()
        try await kitchen.add(3...3)
        // Papa reads what the kitchen has written since, so that nothing waits for him.
        for machine in [kitchen, papa] { try await machine.sync() }
        for name in deletion.keys { disk.objects[name] = nil }
        for machine in [study, kitchen] { try await machine.sync() }
        #expect(try await study.titles().count == 3)
        let pending = try await kitchen.store.database.read { try kitchen.store.status($0).peerZones }
        #expect(pending.contains { $0.peer == "study" && $0.pending > 0 })
        try await afterHalfAYear { try await kitchen.sync() }
        #expect(try await tombstones(kitchen) == 1)
        _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        try await MailboxMachine.expectEqual([kitchen, study])
        #expect(try await study.titles().count == 2)
        // It is forgotten where all have read it.
        for (name, bytes) in deletion { disk.objects[name] = bytes }
        try await MailboxMachine.settle(machines)
        try await writeEverywhere(machines, 10)
        try await afterHalfAYear { try await MailboxMachine.settle(machines) }
        #expect(try await tombstones(kitchen) == 0)
    }
}
