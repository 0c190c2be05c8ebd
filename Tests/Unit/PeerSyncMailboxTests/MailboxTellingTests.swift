import Foundation
import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// What people are told of a mailbox is true, names the right machine, and is told once.
@Suite(.timeLimit(.minutes(10))) struct MailboxTellingTests {
    private func makeMachines(
        _ names: [String], _ disk: MemoryDisk, isSettled: Bool = true
    ) async throws -> [MailboxMachine] {
        let machines = try await MailboxMachine.paired(names, disk)
        if isSettled { try await MailboxMachine.settle(machines) }
        return machines
    }

    private func head(of machine: MailboxMachine, _ disk: MemoryDisk) throws -> MailboxObjectName {
        let heads = disk.objects.keys.filter { AuthorID.parse($0)?.author == machine.author }
        return try #require(heads.sorted().last)
    }

    /// The head of before can be read all the while: that ends nothing.
    @Test func aDamagedHeadIsToldOnce() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b"], disk)
        try await machines[0].add(1...1)
        try await machines[0].sync()
        let name = try head(of: machines[0], disk)
        let whole = disk.objects[name]!
        disk.change(name) { $0[$0.count - 1] ^= 1 }
        for _ in 0..<3 {
            try await machines[1].sync()
            #expect(machines[1].stops == ["a"])
            #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problemCode == "invalid")
        }
        disk.change(name) { $0 = whole }
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problem == nil)
    }

    /// Nobody knows whose the head is before it can be opened.
    @Test func aTornHeadOfAnAuthorThatIsNewIsBlamedOnNobody() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b", "c"], disk, isSettled: false)
        for machine in [machines[0], machines[2], machines[1]] {
            try await machine.add([machines.firstIndex { $0 === machine }!])
            if machine !== machines[2] { try await machine.sync() }
        }
        try await machines[2].sync()
        let name = try head(of: machines[2], disk)
        let whole = disk.objects[name]!
        disk.change(name) { $0 = Array($0.prefix(40)) }
        try await machines[1].sync()
        #expect(machines[1].stops.isEmpty)
        disk.change(name) { $0 = whole }
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
    }

    @Test func damageIsToldAlsoIfSomethingElseHasNotComeYet() async throws {
        let machines = try await makeMachines(["a", "b"], MemoryDisk())
        let peer = try await machines[0].peer(machines[1])
        var problems = ReadingProblems()
        problems.note(MailboxError(.waiting, "something has not come yet"), of: peer)
        #expect(problems.found[peer.id]?.code == .waiting)
        for damage in ["the first", "the second"] { problems.note(DamagedObject(damage), of: peer) }
        problems.note(MailboxError(.waiting, "something has not come yet"), of: peer)
        #expect(problems.found[peer.id]?.code == .invalid)
        #expect(problems.found[peer.id]?.message.contains("the first") == true)
    }

    /// It must not count as suspicious for a year.
    @Test func aRestoredBackupThatAClockAheadHasDatedIsForgotten() async throws {
        let machines = try await makeMachines(["a", "b"], MemoryDisk())
        let database = machines[0].database
        try await database.write { db in
            try db.execute(sql: "UPDATE grdb_sync_mailbox SET restores = 1, restoredAt = 1800000000000")
        }
        try await machines[0].sync()
        let restores = try await database.read { db in
            try Int.fetchOne(db, sql: "SELECT restores FROM grdb_sync_mailbox")
        }
        #expect(restores == 0)
    }

    /// Somebody puts a backup in place, and months later another one, which knows of the first time.
    @Test func aSecondRestoredBackupIsNotASecondMachine() async throws {
        try await withTemporaryDirectory { url in
            let disk = MemoryDisk()
            let clock = SetClock(1_700_000_000_000)
            let identity = Identity.generate()
            let study = try await MailboxMachine("study", disk, clock: clock)
            func kitchen(_ file: String) async throws -> MailboxMachine {
                try await MailboxMachine(
                    "kitchen", disk, path: url.appendingPathComponent(file).path, identity: identity,
                    clock: clock)
            }
            func backUp(_ machine: MailboxMachine, to file: String) throws {
                try machine.database.backup(to: DatabaseQueue(path: url.appendingPathComponent(file).path))
            }
            func isRestored(_ machine: MailboxMachine) -> Bool {
                machine.events.contains { if case .restored = $0 { true } else { false } }
            }
            let first = try await kitchen("first")
            try await MailboxMachine.pair([first, study])
            try await first.add(1...3)
            try await MailboxMachine.settle([first, study])
            try backUp(first, to: "second")
            try await first.add(4...5)
            try await MailboxMachine.settle([first, study])

            let second = try await kitchen("second")
            try await MailboxMachine.settle([second, study])
            #expect(isRestored(second))
            clock.milliseconds += 8 * 24 * 3600 * 1000
            try await second.sync()
            try backUp(second, to: "third")
            try await second.add(6...7)
            try await MailboxMachine.settle([second, study])

            let third = try await kitchen("third")
            try await third.add(8...8)
            try await MailboxMachine.settle([third, study])
            #expect(isRestored(third))
            try await MailboxMachine.expectEqual([third, study])
            #expect(try await third.titles().count == 8)
        }
    }

    @Test func whatTheFuseWithholdsIsTold() async throws {
        let machines = try await makeMachines(["a", "b"], MemoryDisk())
        try await machines[0].add(1...40)
        try await MailboxMachine.settle(machines)
        try await machines[1].store.database.write { [store = machines[1].store] db in
            try store.fuse.set(db, FuseSetting(share: 0.1, records: 2))
        }
        try await machines[0].write("DELETE FROM Item WHERE id < '3'")
        let count = 40 - (try await machines[0].titles().count)
        for machine in machines + machines { try await machine.sync() }
        #expect(try await machines[1].titles().count == 40)
        let told = machines[1].events.compactMap { event -> Int? in
            if case .withheld("a", nil, let count) = event { count } else { nil }
        }
        #expect(told == [count])
    }

    /// Programs write, and other machines leave something, while a check runs.
    @Test func aCheckComparesWhatWasThereAtOneMoment() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b"], disk)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(4...4)
        let storage = HookedStorage(machines[0].storage) { name in
            guard name.folder == MailboxFormat.heads else { return }
            try await machines[0].add(5...5)
            try await machines[1].add(6...6)
            try await machines[1].sync()
        }
        let entry = try await machines[0].store.mailboxes.all()[0]
        let check = try await Mailbox(machines[0].engine, entry, in: storage).check()
        #expect(check.isSound)
        #expect(check.zones.map(\.records) == [4])
    }

    /// The store that a check makes has everything in clear.
    @Test func aCheckLeavesNothingThatOthersCanRead() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b"], disk)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        let folder = FileManager.default.temporaryDirectory.path
        // Earlier versions left some.
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
        let seen = Mutex<[String]>([])
        let segments = machines[0].author.folder
        let storage = GettingStorage(machines[1].storage) { name in
            guard name.folder == segments else { return }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            seen.withLock { $0 += names.filter { $0.hasPrefix("mailbox-check") && !before.contains($0) } }
        }
        let entry = try await machines[1].store.mailboxes.all()[0]
        #expect(try await Mailbox(machines[1].engine, entry, in: storage).check().isSound)
        #expect(seen.withLock { $0 } == [])
    }

    /// A machine that knows the author remembers what its head said; one that comes new reads nothing of it.
    @Test func aCheckNamesAHeadThatIsGoneOrDamaged() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...1)
        try await MailboxMachine.settle([kitchen, study])
        let heads = disk.objects.filter { AuthorID.parse($0.key)?.author == kitchen.author }
        let (name, bytes) = try #require(heads.max { $0.key < $1.key })
        #expect(try await study.mailbox.check().problems == [])
        disk.objects[name] = bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
        #expect(try await study.mailbox.check().problems == ["the last head of kitchen is damaged"])
        disk.objects[name] = nil
        #expect(try await study.mailbox.check().problems == ["the last head of kitchen is not there"])
        #expect(
            try await kitchen.mailbox.check().problems.contains("the last head of this machine is not there"))
        disk.objects[name] = bytes
        #expect(try await study.mailbox.check().isSound)
        // Whoever gives a mailbox up takes all of it away.
        try await kitchen.mailbox.removeOwnObjects()
        #expect(try await study.mailbox.check().problems == [])
    }
}
