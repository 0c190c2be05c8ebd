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

/// A machine that was set back to a backup is heard, and gets back what it lost, whatever the storage has lost with it.
@Suite(.timeLimit(.minutes(10))) struct MailboxRestoringTests {
    /// A kitchen that is set back, and a study.
    private struct Household {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let path: String
        let kitchen: MailboxMachine
        let study: MailboxMachine
        /// One that knows only what the others leave in the mailbox.
        let hall: MailboxMachine?
        var all: [MailboxMachine] { [kitchen, study] + (hall.map { [$0] } ?? []) }

        init(in directory: URL, hasHall: Bool = false) async throws {
            path = directory.appendingPathComponent("store").path
            kitchen = try await MailboxMachine("kitchen", disk, path: path, clock: clock)
            study = try await MailboxMachine("study", disk, clock: clock)
            hall = hasHall ? try await MailboxMachine("hall", disk, clock: clock) : nil
            try await MailboxMachine.pair(all)
        }

        func settle() async throws { try await MailboxMachine.settle(all) }

        func backUp() throws { try kitchen.database.backup(to: DatabaseQueue(path: path + "-copy")) }

        /// The kitchen of the backup, a minute later.
        func restored() async throws -> MailboxMachine {
            try kitchen.database.close()
            clock.milliseconds += 60_000
            return try await MailboxMachine(
                "kitchen", disk, path: path + "-copy", identity: kitchen.identity, clock: clock)
        }
    }

    /// Lets both sync until a last head that is missing three times is put anew, and nobody has anything to put.
    private func settle(_ machines: [MailboxMachine]) async throws {
        for _ in 0..<4 { for machine in machines { try await machine.sync() } }
        try await MailboxMachine.settle(machines)
    }

    /// The storage has lost the heads by which the kitchen would notice it.
    @Test(arguments: [true, false], [true, false])
    func aRestoredStoreIsHeardWithoutItsFormerHeads(hasPut: Bool, changes: Bool) async throws {
        try await withTemporaryDirectory { url in
            let household = try await Household(in: url)
            let (disk, study) = (household.disk, household.study)
            try await household.kitchen.add(1...3)
            if hasPut { try await household.settle() }
            try household.backUp()
            try await household.settle()
            try await household.kitchen.add(4...9)
            try await household.settle()
            for name in disk.objects.keys where AuthorID.parse(name)?.author == household.kitchen.author {
                disk.objects[name] = nil
            }
            let restored = try await household.restored()
            if changes { try await restored.add(10...10) }
            try await settle([restored, study])
            try await MailboxMachine.expectEqual([restored, study])
            #expect(try await study.titles().count == (changes ? 10 : 9))
            // It begins its log anew once.
            let objects = disk.objects
            for _ in 0..<2 { for machine in [restored, study] { try await machine.sync() } }
            #expect(disk.objects == objects)
        }
    }

    /// As when one snapshot of a NAS holds both. What the other machine knows is beyond the backup: by records of its own, which came back to it,
    /// or by segments that it has read.
    @Test(arguments: [[], [4, 5]], [1, 10])
    func aStoreThatIsSetBackTogetherWithTheStorageIsHeard(lost: [Int], new: Int) async throws {
        try await withTemporaryDirectory { url in
            let household = try await Household(in: url)
            try await household.kitchen.add(1...3)
            try await household.settle()
            try household.backUp()
            let objects = household.disk.objects
            for number in lost {
                try await household.kitchen.add([number])
                try await household.settle()
            }
            if lost.isEmpty { try await household.study.add(4...8) }
            try await household.settle()
            household.disk.objects = objects
            let restored = try await household.restored()
            try await restored.add(100..<100 + new)
            try await settle([restored, household.study])
            try await MailboxMachine.expectEqual([restored, household.study])
            #expect(try await household.study.titles().count == (lost.isEmpty ? 8 : 5) + new)
        }
    }

    /// A session gives the kitchen back what it lost, as records of the study. To the study they are records of the kitchen: one of the two has
    /// to put them.
    @Test func aStoreThatIsSetBackTogetherWithTheStorageMeetsAnotherOneFirst() async throws {
        try await withTemporaryDirectory { url in
            let household = try await Household(in: url, hasHall: true)
            let (study, hall) = (household.study, try #require(household.hall))
            try await household.kitchen.add(1...3)
            try await household.settle()
            try household.backUp()
            let objects = household.disk.objects
            try await household.kitchen.add(4...9)
            try await MailboxMachine.settle([household.kitchen, study])
            household.disk.objects = objects
            let restored = try await household.restored()
            _ = try await SyncConnector(restored.engine, to: study.engine).syncOnce()
            // It says something new, but waits with the records of the study, which may put them itself.
            let zone = try await restored.store.zones.all()[0].name
            _ = try await restored.store.zones.grant(.read, to: "hall", in: zone)
            #expect(try await restored.mailbox.pass(mayWait: true).hasPutHead)
            // It puts a head before it takes its last one for lost.
            try await study.add(50...50)
            try await study.sync()
            try await settle([restored, study, hall])
            try await MailboxMachine.expectEqual([restored, study, hall])
            #expect(try await hall.titles().count == 10)
        }
    }

    /// The storage is older than the backup, so the kitchen misses its last head and begins another log, which goes beyond what the study
    /// has read of the former one.
    @Test func aStoreThatIsSetBackIsHeardInAnotherLog() async throws {
        try await withTemporaryDirectory { url in
            let household = try await Household(in: url)
            let study = household.study
            try await household.kitchen.add(1...3)
            try await household.settle()
            let objects = household.disk.objects
            try await household.kitchen.add(4...4)
            try await household.settle()
            try household.backUp()
            try await household.kitchen.add(5...6)
            try await household.settle()
            household.disk.objects = objects
            let restored = try await household.restored()
            try await restored.add(100...110)
            for _ in 0..<4 { try await restored.sync() }
            try await settle([study, restored])
            try await MailboxMachine.expectEqual([restored, study])
            #expect(try await study.titles().count == 17)
        }
    }

    /// It numbers no change, so its new history does not cover what the other one has. Nothing may be told of that again and again.
    @Test func aStoreToWhichNobodyGivesAnythingBackBeginsOneHistory() async throws {
        try await withTemporaryDirectory { url in
            let household = try await Household(in: url)
            let study = household.study
            let zone = try await household.kitchen.store.zones.all()[0].name
            _ = try await household.kitchen.store.zones.grant(.read, to: "study", in: zone)
            try await household.kitchen.add(1...3)
            try await household.settle()
            try household.backUp()
            try await household.kitchen.add(4...6)
            try await household.settle()
            let restored = try await household.restored()
            try await settle([restored, study])
            #expect(
                restored.events.filter { if case .restored = $0 { true } else { false } }.count == 1)
            let objects = household.disk.objects
            for _ in 0..<2 { for machine in [restored, study] { try await machine.sync() } }
            #expect(household.disk.objects == objects)
        }
    }

    /// The tokens of a copy in another order are in no history, and its end is where its beginning is.
    @Test func aBaseThatIsReadInPartIsReadOn() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        // More than are copied in the order in which they were written.
        try await kitchen.add(1...10_001)
        try await study.add([-1])
        try await kitchen.sync()
        let log = try #require(try await logs(of: kitchen).first)
        #expect(log.base > 2)
        let key = AuthorSecrets(kitchen.identity.keyPair, app: kitchen.engine.app).key(of: log.log)
        let second = Segment.name(2, of: kitchen.author, logKey: key)
        let bytes = try #require(disk.objects[second])
        disk.objects[second] = nil
        #expect(try await study.sync().segmentsRead == 1)
        let own = try await logs(of: study).map(\.log)
        for _ in 0..<2 { #expect(try await study.sync().segmentsRead == 0) }
        #expect(try await logs(of: study).map(\.log) == own)
        disk.objects[second] = bytes
        #expect(try await study.sync().segmentsRead == log.base - 1)
        try await MailboxMachine.settle([kitchen, study])
        try await MailboxMachine.expectEqual([kitchen, study])
    }

    private func logs(of machine: MailboxMachine) async throws -> [OwnLog] {
        try await machine.store.database.read { try OwnLog.all($0, mailbox: 1) }
    }
}
