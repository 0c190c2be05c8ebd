import Foundation
import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// One log takes the place of another one, and no reader lacks anything for it.
@Suite(.timeLimit(.minutes(10))) struct MailboxLogTests {
    private func makeMachines(_ names: [String], _ disk: MemoryDisk) async throws -> [MailboxMachine] {
        let machines = try await MailboxMachine.paired(names, disk)
        try await MailboxMachine.settle(machines)
        return machines
    }

    private func log(of machine: MailboxMachine) async throws -> OwnLog {
        try #require(
            try await machine.store.database.read { db in
                try OwnLog.all(db, mailbox: 1).first { $0.phase == .named }
            })
    }

    /// The author leaves out what a removed machine wrote; its next log has all of it, and so has the one after that.
    @Test func aWholeLogThatNotAllHaveReadIsReplacedByAWholeOne() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["author", "reader", "removed", "fourth"], disk)
        let (author, reader, removed, fourth) = (machines[0], machines[1], machines[2], machines[3])
        try await author.add(1...3)
        try await MailboxMachine.settle(machines)
        let before = Set(disk.objects.keys)
        try await removed.add(4...4)
        try await removed.sync()
        let late = disk.objects.filter { !before.contains($0.key) && $0.key.folder == removed.author.folder }
        for machine in [author, fourth, author] { try await machine.sync() }
        // The reader takes what the author covers, and not what the author leaves out.
        for name in late.keys { disk.objects[name] = nil }
        try await reader.sync()
        #expect(try await reader.titles().count == 3)
        _ = try await author.store.household.remove("removed", by: author.key)
        try await author.sync()
        #expect(try await log(of: author).isWhole)
        _ = try await author.store.household.remove("fourth", by: author.key)
        try await author.sync()
        try await MailboxMachine.settle([author, reader])
        try await MailboxMachine.expectEqual([author, reader])
        // All have read it, so the next one need not be whole.
        try await author.store.database.write {
            try $0.execute(sql: "UPDATE grdb_sync_mailboxLog SET changeBytes = 1 << 40")
        }
        let former = try await log(of: author)
        try await author.sync()
        let next = try await log(of: author)
        #expect(next.log != former.log)
        #expect(!next.isWhole)
    }

    /// A stop while the new log is begun does not leave the one in use whose key the removed machine knows.
    @Test func aStopKeepsNoLogInUseThatARemovedMachineCanRead() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b", "c"], disk)
        let former = try await log(of: machines[0])
        _ = try await machines[0].store.household.remove("c", by: machines[0].key)
        machines[0].storage.faults.putError = .full
        await #expect(throws: MailboxError.self) { try await machines[0].sync() }
        machines[0].storage.faults = MemoryStorage.Faults()
        try await machines[0].add(1...1)
        try await machines[0].sync()
        #expect(try await log(of: machines[0]).log != former.log)
        try await MailboxMachine.settle([machines[0], machines[1]])
        try await MailboxMachine.expectEqual([machines[0], machines[1]])
    }

    /// Readers stop before a segment that the storage has lost. Its author sees it when it begins to run, and puts everything anew.
    @Test func anAuthorThatBeginsToRunMissesASegmentThatIsGone() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b"], disk)
        for number in 1...3 {
            try await machines[0].add(number...number)
            try await machines[0].sync()
        }
        let lost = Segment.name(
            2, of: machines[0].author,
            logKey: AuthorSecrets(machines[0].identity.keyPair, app: machines[0].engine.app)
                .key(of: try await log(of: machines[0]).log))
        #expect(disk.objects[lost] != nil)
        disk.objects[lost] = nil
        try await machines[1].sync()
        #expect(try await machines[1].titles().isEmpty)
        let entry = try await machines[0].store.mailboxes.all()[0]
        try await Mailbox(machines[0].engine, entry, in: machines[0].storage).syncOnce()
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(try await machines[0].mailbox.check().isSound)
    }

    /// The author of a damaged segment removes it with a check, and then misses it.
    @Test func aCheckRemovesADamagedSegmentOfItsOwn() async throws {
        let disk = MemoryDisk()
        let machines = try await makeMachines(["a", "b"], disk)
        try await machines[0].add(1...1)
        try await machines[0].sync()
        let former = try await log(of: machines[0])
        let key = AuthorSecrets(machines[0].identity.keyPair, app: machines[0].engine.app).key(of: former.log)
        disk.change(Segment.name(UInt64(former.segments), of: machines[0].author, logKey: key)) {
            $0[40] ^= 1
        }
        #expect(try await machines[0].mailbox.check().isSound == false)
        try await machines[0].sync()
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(try await machines[0].mailbox.check().isSound)
    }

    /// The author could not put what it had read of a machine; that machine's store is then the one of a backup.
    @Test func whatCameInAnotherHistoryIsNotLeftOut() async throws {
        try await withTemporaryDirectory { url in
            let disk = MemoryDisk()
            let path = url.appendingPathComponent("store").path
            let identity = Identity.generate()
            let author = try await MailboxMachine("author", disk)
            var kitchen: MailboxMachine? = try await MailboxMachine(
                "kitchen", disk, path: path, identity: identity)
            try await MailboxMachine.pair([author, kitchen!])
            try await author.add(1...3)
            try await MailboxMachine.settle([author, kitchen!])
            try kitchen!.database.backup(to: DatabaseQueue(path: path + "-copy"))
            try await kitchen!.add(4...4)
            try await kitchen!.sync()
            try await author.add(5...5)
            author.storage.faults.putError = .full
            await #expect(throws: MailboxError.self) { try await author.sync() }
            #expect(try await author.titles().count == 5)
            author.storage.faults = MemoryStorage.Faults()
            try kitchen!.database.close()
            kitchen = nil
            let restored = try await MailboxMachine("kitchen", disk, path: path + "-copy", identity: identity)
            try await restored.add(6...8)
            try await restored.sync()
            try await MailboxMachine.settle([author, restored])
            try await MailboxMachine.expectEqual([author, restored])
            #expect(try await restored.titles().count == 8)
        }
    }

    /// The reader leaves out what the author has put; then the author takes all of it away, before the third machine has read it.
    @Test func whatAnAuthorTakesAwayOthersPut() async throws {
        let machines = try await makeMachines(["author", "reader", "third"], MemoryDisk())
        let (author, reader, third) = (machines[0], machines[1], machines[2])
        try await author.add(1...1)
        for machine in [author, reader] { try await machine.sync() }
        try await author.mailbox.removeOwnObjects()
        for machine in [reader, third] { try await machine.sync() }
        #expect(try await third.titles() == ["Item number 1"])
        try await MailboxMachine.settle([reader, third])
    }

    /// The author leaves to a third machine what that one wrote, and the reader takes what the author covers without having read that.
    ///
    /// - Returns: the author and the reader, which lacks an item.
    private func machinesWithALack(_ disk: MemoryDisk) async throws -> (MailboxMachine, MailboxMachine) {
        let machines = try await makeMachines(["author", "reader", "third"], disk)
        let before = Set(disk.objects.keys)
        try await machines[2].add(4...4)
        for number in [2, 0] { try await machines[number].sync() }
        let late = disk.objects.keys.filter {
            !before.contains($0) && $0.folder == machines[2].author.folder
        }
        for name in late { disk.objects[name] = nil }
        try await machines[1].sync()
        #expect(try await machines[1].titles().isEmpty)
        return (machines[0], machines[1])
    }

    /// Readers pass over the base of a log that is not whole.
    @Test func whatALogLeavesOutItsSuccessorDoesToo() async throws {
        let disk = MemoryDisk()
        let (author, reader) = try await machinesWithALack(disk)
        try await author.store.database.write {
            try $0.execute(sql: "UPDATE grdb_sync_mailboxLog SET changeBytes = 1 << 40")
        }
        try await author.sync()
        #expect(try await !log(of: author).isWhole)
        for machine in [reader, author] { try await machine.sync() }
        _ = try await author.store.household.remove("third", by: author.key)
        try await MailboxMachine.settle([author, reader])
        #expect(try await reader.titles() == ["Item number 4"])
    }

    /// What nobody may read any more goes at once; who may read again gets all of it.
    @Test func whatNobodyMayReadGoes() async throws {
        let disk = MemoryDisk()
        let (author, reader) = try await machinesWithALack(disk)
        for name in ["reader", "third"] { _ = try await author.store.peers.forget(name) }
        try await author.sync()
        #expect(disk.objects.keys.filter { $0.folder == author.author.folder } == [])
        try await MailboxMachine.pair([author, reader], areMembers: false)
        try await MailboxMachine.settle([author, reader])
        #expect(try await reader.titles() == ["Item number 4"])
        #expect(try await author.mailbox.check().isSound)
    }

    /// Its changes are neither many nor long, so nothing else is a reason for another log.
    @Test func aFullLogIsReplaced() async throws {
        let machines = try await makeMachines(["author", "reader"], MemoryDisk())
        let (author, reader) = (machines[0], machines[1])
        try await author.add(1...1)
        try await MailboxMachine.settle(machines)
        let full = try await log(of: author)
        try await author.store.database.write {
            try $0.execute(sql: "UPDATE grdb_sync_mailboxLog SET base = 4000, segments = 4096")
        }
        try await author.add(2...2)
        try await author.sync()
        #expect(try await log(of: author).log != full.log)
        try await reader.sync()
        #expect(try await reader.titles() == ["Item number 1", "Item number 2"])
    }

    /// A new log would lack the records of which this machine holds changes back.
    @Test func aFullLogStaysWhileAnythingIsHeldBack() async throws {
        let machines = try await makeMachines(["author", "reader"], MemoryDisk())
        let (author, reader) = (machines[0], machines[1])
        try await author.add(1...40)
        try await MailboxMachine.settle(machines)
        let full = try await log(of: author)
        try await author.store.database.write { [store = author.store] db in
            try store.fuse.set(db, FuseSetting(share: 0.1, records: 2))
            try db.execute(
                sql: "UPDATE grdb_sync_mailboxLog SET base = base + 4096 - segments, segments = 4096")
        }
        // A program that does not know the engine.
        try await author.database.write { try $0.execute(sql: "DELETE FROM Item WHERE id < '3'") }
        try await author.add(41...41)
        let error = await #expect(throws: MailboxError.self) { try await author.sync() }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("holds back") == true)
        #expect(try await log(of: author).log == full.log)
        try await author.store.database.write { [store = author.store] db in
            for alarm in try store.fuse.alarms(db) { try store.fuse.allow(db, alarm) }
        }
        try await author.sync()
        #expect(try await log(of: author).log != full.log)
        try await reader.sync()
        try await MailboxMachine.expectEqual(machines)
    }

    /// Another one would be as long.
    @Test func changesForWhichABaseLeavesNoPlaceAreTold() async throws {
        let author = try await makeMachines(["author", "reader"], MemoryDisk())[0]
        try await author.store.database.write {
            try $0.execute(sql: "UPDATE grdb_sync_mailboxLog SET base = 4096, segments = 4096")
        }
        try await author.sync()
        try await author.add(2...2)
        let error = await #expect(throws: MailboxError.self) { try await author.sync() }
        #expect(error?.message.contains("too large") == true)
    }
}
