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

/// Storage that fails, lags and goes back loses nothing, and leaves nothing behind for ever.
@Suite(.timeLimit(.minutes(10))) struct MailboxFaultTests {
    /// Stops a first upload, changes and a new log at each put and delete, with and without the write itself; then goes on.
    @Test(arguments: [false, true]) func aStopAtAnyWriteIsMadeGood(doesLastWrite: Bool) async throws {
        var stopped = 0
        for writes in 0... {
            let disk = MemoryDisk()
            let kitchen = try await MailboxMachine("kitchen", disk)
            let study = try await MailboxMachine("study", disk)
            try await MailboxMachine.pair([kitchen, study])
            try await kitchen.add(1...3)
            kitchen.storage.faults.writesLeft = writes
            kitchen.storage.faults.doesLastWrite = doesLastWrite
            let isWhole = try await changes(kitchen, study)
            kitchen.storage.faults = MemoryStorage.Faults()
            try await kitchen.add(100...100)
            try await MailboxMachine.settle([kitchen, study])
            try await MailboxMachine.expectEqual([kitchen, study])
            try await expectNothingLeft(kitchen, disk)
            if isWhole { break }
            stopped += 1
        }
        #expect(stopped > 5)
    }

    /// - Returns: whether nothing stopped it.
    private func changes(_ kitchen: MailboxMachine, _ study: MailboxMachine) async throws -> Bool {
        do {
            try await kitchen.sync()
            try await study.sync()
            try await kitchen.add(4...5)
            try await kitchen.sync()
            // A new log, and the removal of the old one.
            _ = try await kitchen.store.peers.forget("study")
            try await kitchen.sync()
            try await MailboxMachine.pair([kitchen, study])
            try await kitchen.sync()
            try await study.sync()
            try await kitchen.sync()
            return true
        } catch is MailboxError {
            try await MailboxMachine.pair([kitchen, study])
            return false
        }
    }

    /// Checks that a program that begins to run, after the time for which logs stay, leaves only what a head names.
    private func expectNothingLeft(_ machine: MailboxMachine, _ disk: MemoryDisk) async throws {
        try await machine.store.database.write { db in
            try db.execute(sql: "UPDATE grdb_sync_mailboxLog SET replacedAt = 0 WHERE replacedAt IS NOT NULL")
        }
        let entry = try await machine.store.mailboxes.all()[0]
        try await Mailbox(machine.engine, entry, in: machine.storage).syncOnce()
        let log = try #require(
            try await machine.store.database.read { db in
                try OwnLog.all(db, mailbox: entry.id).first { $0.phase == .named }
            })
        #expect(disk.objects.keys.filter { $0.folder == machine.author.folder }.count == log.segments)
        #expect(disk.objects.keys.filter { AuthorID.parse($0)?.author == machine.author }.count == 1)
    }

    /// Objects come late, and in any order.
    @Test(arguments: 1...12 as ClosedRange<UInt64>) func lateObjectsAreAwaited(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let disk = MemoryDisk()
        disk.isLate = true
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        for number in 0..<30 {
            let machine = machines[Int.random(in: 0..<3, using: &generator)]
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: try await machine.add(number...number)
            case 1: try await machine.write("UPDATE Item SET title = 'Title \(number)' WHERE id < '2'")
            case 2: try await machine.write("DELETE FROM Item WHERE id = '\(number / 2)'")
            default: disk.deliver(&generator)
            }
            if !generator.oneIn(3) { try await machine.sync() }
        }
        disk.deliverAll()
        disk.isLate = false
        try await MailboxMachine.settle(machines, rounds: 20)
        try await MailboxMachine.expectEqual(machines)
    }

    /// Machines join, leave, lose their stores, and meet on the LAN.
    @Test(arguments: 1...12 as ClosedRange<UInt64>) func whateverHappensMachinesConverge(seed: UInt64)
        async throws
    {
        var generator = SeededGenerator(seed: seed)
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c", "d"], disk)
        for number in 0..<40 {
            let machine = machines.randomElement(using: &generator)!
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: try await machine.add(number...number)
            case 2: try await machine.write("UPDATE Item SET title = 'Title \(number)' WHERE id < '3'")
            case 3: try await machine.write("DELETE FROM Item WHERE id = '\(number / 2)'")
            case 4 where generator.oneIn(2):
                let other = machines.randomElement(using: &generator)!
                if other !== machine {
                    _ = try await SyncConnector(machine.engine, to: other.engine).syncOnce()
                }
            default:
                machine.storage.faults.writesLeft =
                    generator.oneIn(4) ? Int.random(in: 0..<4, using: &generator) : nil
                machine.storage.faults.doesLastWrite = generator.oneIn(2)
                _ = try? await machine.sync()
                machine.storage.faults = MemoryStorage.Faults()
            }
        }
        try await MailboxMachine.settle(machines, rounds: 20)
        try await MailboxMachine.expectEqual(machines)
        for machine in machines { #expect(try await machine.mailbox.check().isSound) }
    }

    @Test func aStorageThatWentBackIsToldAndTakesNothingBack() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        let before = disk.objects
        try await machines[0].add(4...6)
        try await MailboxMachine.settle(machines)
        disk.objects = before
        try await machines[1].sync()
        #expect(machines[1].events.contains { if case .wentBack("a") = $0 { true } else { false } })
        #expect(try await machines[1].titles().count == 6)
        // After some passes the machines put again what is lost.
        for _ in 0..<4 { for machine in machines { try await machine.sync() } }
        try await MailboxMachine.settle(machines)
        #expect(machines[0].events.contains { if case .ownObjectsLost = $0 { true } else { false } })
        let newcomer = try await MailboxMachine("c", disk)
        try await MailboxMachine.pair(machines + [newcomer])
        try await MailboxMachine.settle(machines + [newcomer])
        try await MailboxMachine.expectEqual(machines + [newcomer])
    }

    /// What the first pass has found lost must not be forgotten with it: it begins with one zone, and fails there.
    @Test func aPassThatFailsAfterItHasLookedForWhatIsLostIsMadeUpFor() async throws {
        try await withTemporaryDirectory { folder in
            let disk = MemoryDisk()
            let identity = Identity.generate()
            let path = folder.appendingPathComponent("a.sqlite").path
            let first = try await MailboxMachine("a", disk, path: path, identity: identity)
            let other = try await MailboxMachine("b", disk)
            try await MailboxMachine.pair([first, other])
            let club = try await first.store.zones.create("club")
            _ = try await first.store.zones.grant(.write, to: "b", in: "club")
            let stamp = Stamp(time: HybridTime(milliseconds: 1), replica: first.store.replica)
            let item = RecordState(
                name: try RecordName("Item|~|club"),
                fields: [RecordField(name: "title", value: .text("chess"), stamp: stamp)])
            _ = try await first.store.write { [store = first.store] db in
                try store.writeAnew(db, [item], zone: .one(club))
            }
            try await first.add(1...3)
            try await MailboxMachine.settle([first, other])
            disk.objects = disk.objects.filter { $0.key.folder != first.author.folder }

            let again = try await MailboxMachine("a", disk, path: path, identity: identity)
            again.storage.faults.putError = .unreachable
            await #expect(throws: MailboxError.self) { try await again.sync() }
            again.storage.faults = MemoryStorage.Faults()
            try await again.sync()
            #expect(try await again.mailbox.check().isSound)
        }
    }

    @Test func anEmptiedStorageIsNotWrittenTo() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await MailboxMachine.settle(machines)
        disk.objects = [:]
        let error = await #expect(throws: MailboxError.self) { try await machines[0].sync() }
        #expect(error?.code == .emptied)
        #expect(disk.objects.isEmpty)
        #expect(try await machines[0].store.mailboxes.all()[0].lastErrorCode == "emptied")
    }

    /// A changed object stops the reading of its author, by name, and others go on.
    @Test func aDamagedObjectStopsItsAuthorAlone() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(1...1)
        try await machines[2].add(2...2)
        let former = Set(disk.objects.keys)
        try await machines[0].sync()
        let name = try #require(
            disk.objects.keys.first { !former.contains($0) && $0.folder == machines[0].author.folder })
        let whole = disk.objects[name]
        disk.change(name) { $0[40] ^= 1 }
        try await machines[2].sync()
        try await machines[1].sync()
        #expect(machines[1].events.contains { if case .stopped("a", _) = $0 { true } else { false } })
        #expect(
            try await machines[1].store.mailboxes.all()[0].machines.first { $0.name == "a" }?.problem != nil)
        #expect(try await machines[1].titles() == ["Item number 2"])
        disk.change(name) { $0 = whole! }
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(
            try await machines[1].store.mailboxes.all()[0].machines.first { $0.name == "a" }?.problem == nil)
    }

    /// An object in the place of another one does not open there.
    @Test func exchangedObjectsAreDamaged() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await MailboxMachine.settle(machines)
        for number in 1...2 {
            try await machines[0].add(number...number)
            try await machines[0].sync()
        }
        let names = disk.objects.keys.filter { $0.folder == machines[0].author.folder }.sorted()
        let (first, last) = (disk.objects[names[0]]!, disk.objects[names[1]]!)
        disk.change(names[0]) { $0 = last }
        disk.change(names[1]) { $0 = first }
        try await machines[1].sync()
        #expect(machines[1].events.contains { if case .stopped("a", _) = $0 { true } else { false } })
    }

    @Test(arguments: [MailboxError.Code.full, .readOnly, .credentials])
    func aStorageThatRefusesToBeWrittenIsRead(
        code: MailboxError.Code
    ) async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await machines[0].add(1...3)
        try await machines[0].sync()
        machines[1].storage.faults.putError = code
        let error = await #expect(throws: MailboxError.self) { try await machines[1].sync() }
        #expect(error?.code == code)
        #expect(try await machines[1].titles().count == 3)
        machines[1].storage.faults.putError = nil
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
    }

    /// A store of a backup gets back what it had put, from those that have read it.
    @Test func aRestoredStoreGetsBackWhatItHadPut() async throws {
        try await withTemporaryDirectory { url in
            let disk = MemoryDisk()
            let path = url.appendingPathComponent("store").path
            let identity = Identity.generate()
            var kitchen: MailboxMachine? = try await MailboxMachine(
                "kitchen", disk, path: path, identity: identity)
            let study = try await MailboxMachine("study", disk)
            let attic = try await MailboxMachine("attic", disk)
            try await MailboxMachine.pair([kitchen!, study, attic])
            try await kitchen!.add(1...5)
            try await MailboxMachine.settle([kitchen!, study, attic])
            try kitchen!.database.backup(to: DatabaseQueue(path: path + "-copy"))
            try await kitchen!.add(6...8)
            try await MailboxMachine.settle([kitchen!, study])
            try kitchen!.database.close()
            kitchen = nil
            let restored = try await MailboxMachine("kitchen", disk, path: path + "-copy", identity: identity)
            #expect(try await restored.titles().count == 5)
            try await restored.add(9...9)
            try await MailboxMachine.settle([restored, study, attic])
            #expect(restored.events.contains { if case .restored = $0 { true } else { false } })
            try await MailboxMachine.expectEqual([restored, study, attic])
            #expect(try await attic.titles().count == 9)
        }
    }

    /// Two machines with one key notice each other, and stop writing over each other.
    @Test func twoMachinesWithOneKeyAreTold() async throws {
        let disk = MemoryDisk()
        let identity = Identity.generate()
        let first = try await MailboxMachine("a", disk, identity: identity)
        let second = try await MailboxMachine("copy", disk, identity: identity)
        let other = try await MailboxMachine("b", disk)
        try await MailboxMachine.pair([first, other])
        try await MailboxMachine.pair([other, second])
        var codes: [MailboxError.Code?] = []
        for _ in 0..<5 {
            for machine in [first, second] {
                try await machine.add([Int(codes.count) + 1000])
                do {
                    try await machine.sync()
                    codes.append(nil)
                } catch let error as MailboxError {
                    codes.append(error.code)
                }
            }
        }
        #expect(codes.contains(.sameIdentity))
        try await other.sync()
    }

    /// A machine that may hold records whose deletion is forgotten does not go on.
    @Test func aMachineThatWasAwayTooLongIsRefused() async throws {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let kitchen = try await MailboxMachine("kitchen", disk, clock: clock)
        let study = try await MailboxMachine("study", disk, clock: clock)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...3)
        try await MailboxMachine.settle([kitchen, study])
        // The pairing ends for a while, and the kitchen forgets a deletion.
        _ = try await kitchen.store.peers.forget("study")
        try await kitchen.write("DELETE FROM Item WHERE id = '1'")
        clock.milliseconds += 200 * 24 * 3600 * 1000
        let forgotten = try await kitchen.store.database.write { try kitchen.store.upkeep.purge($0) }
        #expect(forgotten == 1)
        try await kitchen.sync()
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.sync()
        try await study.write("UPDATE Item SET title = 'old' WHERE id = '1'")
        for machine in [study, kitchen, study] { try await machine.sync() }
        for machine in [study, kitchen] {
            #expect(
                machine.events.contains {
                    if case .stopped(_, let error) = $0 { error.message.contains("away") } else { false }
                })
        }
        #expect(try await kitchen.titles().count == 2)
    }

    /// Anybody who writes to the storage can name a head so. It is not there for anybody.
    @Test func aHeadWithTheGreatestCounterBringsNobodyToTheEnd() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await MailboxMachine.settle(machines)
        disk.objects[machines[0].author.headName(UInt64(Int64.max))] = [1]
        disk.objects[machines[0].author.headName(UInt64.max)] = [1]
        disk.objects[machines[0].author.headName((1 << 62) - 1)] = [1]
        try await machines[0].add(1...1)
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        #expect(!machines[0].events.contains { if case .restored = $0 { true } else { false } })
    }

    /// Anybody who writes to the storage can put a head that says nothing to anybody, and the one before it afterwards.
    @Test func aHeadForNobodyMakesNoOlderHeadTheLastOne() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...1)
        try await MailboxMachine.settle([kitchen, study])
        func last(of machine: MailboxMachine) throws -> (name: MailboxObjectName, bytes: [UInt8]) {
            let own = disk.objects.filter { AuthorID.parse($0.key)?.author == machine.author }
            let (name, bytes) = try #require(own.max { $0.key < $1.key })
            return (name, bytes)
        }
        let former = try last(of: kitchen)
        try await kitchen.add(2...2)
        try await MailboxMachine.settle([kitchen, study])
        let latest = try last(of: kitchen)
        let counter = try #require(AuthorID.parse(latest.name)).counter
        let forged = kitchen.author.headName(counter + 1)
        disk.objects[forged] = try last(of: study).bytes
        try await study.sync()
        disk.objects[forged] = nil
        disk.objects[latest.name] = nil
        disk.objects[former.name] = former.bytes
        try await study.sync()
        #expect(study.events.contains { if case .wentBack("kitchen") = $0 { true } else { false } })
        #expect(try await study.store.mailboxes.all()[0].machines.map(\.name) == ["kitchen"])
        // The last one is heard again as soon as it is there.
        disk.objects[former.name] = nil
        disk.objects[latest.name] = latest.bytes
        try await study.sync()
        let known = try await study.store.database.read { try KnownAuthor.all($0, mailbox: 1) }
        #expect(known.map(\.head) == [latest.bytes])
    }

    /// So is one that knows the author from the network alone, and whose token is of a run that the head does not name any more.
    @Test func aMachineThatWasAwayTooLongFromTheNetworkIsRefused() async throws {
        try await withTemporaryDirectory { url in
            let disk = MemoryDisk()
            let clock = SetClock(1_700_000_000_000)
            let path = url.appendingPathComponent("store").path
            let identity = Identity.generate()
            var kitchen: MailboxMachine? = try await MailboxMachine(
                "kitchen", disk, path: path, identity: identity, clock: clock)
            let study = try await MailboxMachine("study", disk, clock: clock)
            try await MailboxMachine.pair([kitchen!, study])
            try await kitchen!.add(1...3)
            _ = try await SyncConnector(kitchen!.engine, to: study.engine).syncOnce()
            _ = try await kitchen!.store.peers.forget("study")
            try await kitchen!.write("DELETE FROM Item WHERE id = '1'")
            clock.milliseconds += 200 * 24 * 3600 * 1000
            let forgotten = try await kitchen!.store.database.write { [store = kitchen!.store] in
                try store.upkeep.purge($0)
            }
            #expect(forgotten == 1)
            kitchen = nil
            let next = try await MailboxMachine("kitchen", disk, path: path, identity: identity, clock: clock)
            try await next.add(4...4)
            try await MailboxMachine.pair([next, study])
            for machine in [next, study, next] { try await machine.sync() }
            #expect(
                study.events.contains {
                    if case .stopped(_, let error) = $0 { error.message.contains("away") } else { false }
                })
            #expect(try await next.titles().count == 3)
        }
    }
}
