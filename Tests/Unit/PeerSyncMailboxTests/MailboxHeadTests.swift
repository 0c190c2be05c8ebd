import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// What lies beside the heads that this machine can open costs little, and is told truly.
@Suite(.timeLimit(.minutes(10))) struct MailboxHeadTests {
    private static func stranger(_ number: Int) -> AuthorID {
        AuthorID(unchecked: [UInt8].number(UInt64(number)) + [UInt8].number(0))
    }

    private func head(of machine: MailboxMachine, _ disk: MemoryDisk) throws -> MailboxObjectName {
        let heads = disk.objects.keys.filter { AuthorID.parse($0)?.author == machine.author }
        return try #require(heads.max())
    }

    /// How many objects a pass gets.
    private func gets(_ machine: MailboxMachine) async throws -> Int {
        let before = machine.storage.counts.gets
        try await machine.sync()
        return machine.storage.counts.gets - before
    }

    /// No version comes that far.
    @Test(arguments: [0, 32, 255] as [UInt8])
    func aHeadWithAnyOtherFirstByteIsDamaged(byte: UInt8) async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b"], disk)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(1...1)
        try await machines[0].sync()
        disk.change(try head(of: machines[0], disk)) { $0[0] = byte }
        // Its author is told, and puts another one.
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
    }

    /// Nobody tells its author that it is damaged: the list of what is would be a reason for a head.
    @Test func aHeadOfALaterVersionIsToldAndNotDamaged() async throws {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let machines = try await MailboxMachine.paired(["a", "b"], disk, clock: clock)
        try await MailboxMachine.settle(machines)
        let quiet = try await gets(machines[1])
        try await machines[0].add(1...1)
        try await machines[0].sync()
        let name = try head(of: machines[0], disk)
        disk.change(name) { $0[0] = 2 }
        for _ in 0..<2 {
            #expect(try await !machines[1].sync().hasPutHead)
            let author = try await machines[1].store.mailboxes.all()[0].machines[0]
            #expect(author.problem?.contains("version 2") == true)
        }
        #expect(machines[1].stops == ["a"])
        // It is got once.
        #expect(try await gets(machines[1]) == quiet)
        disk.change(name) { $0[0] = 1 }
        clock.milliseconds += 60 * 1000
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problem == nil)
    }

    @Test func headsOfALaterVersionWhoseMachinesNobodyKnowsAreToldOnce() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b"], disk)
        disk.objects = [Self.stranger(1).headName(1): [2], Self.stranger(2).headName(1): [3]]
        // Who only looks once would tell it in each run.
        try await machines[1].sync()
        for _ in 0..<2 { _ = try await machines[0].mailbox.pass(mayWait: true) }
        let told = machines.map { $0.events.filter { if case .stopped(nil, _) = $0 { true } else { false } } }
        #expect(told.map(\.count) == [1, 0])
        #expect(machines[0].stops == [])
    }

    /// Programs that copy a file give it its size first.
    @Test func aHeadThatWasSeenBeforeAllOfItWasThereIsReadLater() async throws {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let machines = try await MailboxMachine.paired(["a", "b"], disk, clock: clock)
        try await machines[0].add(1...1)
        try await machines[0].sync()
        let name = try head(of: machines[0], disk)
        let whole = disk.objects[name]!
        disk.change(name) { $0 = [UInt8](repeating: 0, count: whole.count) }
        try await machines[1].sync()
        disk.change(name) { $0 = whole }
        clock.milliseconds += 60 * 1000
        try await machines[1].sync()
        #expect(try await machines[1].titles() == ["Item number 1"])
    }

    /// Anybody who writes to the storage can put as many as it holds.
    @Test func whatIsNoHeadIsReadSeldomAndNotWithoutBound() async throws {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let machines = try await MailboxMachine.paired(["a", "b"], disk, clock: clock)
        try await MailboxMachine.settle(machines)
        let quiet = try await gets(machines[1])
        let rubbish = (0..<1500).map { (Self.stranger($0).headName(1), [1, 2, 3] as [UInt8]) }
        disk.objects.merge(rubbish) { $1 }
        // One author is known. The others come in their turn, or they would keep a new machine out.
        #expect(try await gets(machines[1]) == quiet + 999)
        #expect(try await gets(machines[1]) == quiet + 501)
        #expect(try await gets(machines[1]) == quiet)
        for minutes in [1, 2, 4] {
            clock.milliseconds += Int64(minutes) * 60 * 1000
            for number in [999, 501, 0] { #expect(try await gets(machines[1]) == quiet + number) }
        }
        try await machines[0].add(1...1)
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
    }
}
