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

/// Machines that meet in a mailbox come to the same, with little traffic.
@Suite(.timeLimit(.minutes(10))) struct MailboxExchangeTests {
    @Test func twoMachinesThatNeverMeetComeToTheSame() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...20)
        try await kitchen.sync()
        #expect(try await study.sync().segmentsRead == 1)
        try await study.write(
            "UPDATE Item SET title = 'Figs' WHERE id = '3'; DELETE FROM Item WHERE id = '4'")
        try await MailboxMachine.settle([study, kitchen])
        try await MailboxMachine.expectEqual([kitchen, study])
        #expect(try await kitchen.titles().count == 19)
        #expect(try await kitchen.titles().contains("Figs"))
    }

    @Test func anIdlePassListsOnceAndReadsNothing() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        for machine in machines {
            machine.storage.counts = MemoryStorage.Counts()
            #expect(try await machine.sync() == MailboxReport())
            #expect(machine.storage.counts == MemoryStorage.Counts(lists: 1))
        }
    }

    /// One segment, and a head of each machine.
    @Test func oneChangeIsPutByItsAuthorAlone() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c", "d"], disk)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        try await machines[0].write("UPDATE Item SET title = 'Figs' WHERE id = '1'")
        var segments = 0
        var heads = 0
        for _ in 0..<3 {
            for machine in machines {
                let report = try await machine.sync()
                segments += report.segmentsPut
                heads += report.hasPutHead ? 1 : 0
            }
        }
        #expect(segments == 1)
        #expect(heads == 4)
        try await MailboxMachine.expectEqual(machines)
    }

    /// What came through the mailbox is not sent again on the LAN, and the other way round.
    @Test func aSessionAfterAMailboxSendsNothing() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await machines[0].add(1...10)
        try await MailboxMachine.settle(machines)
        var report = try await SyncConnector(machines[0].engine, to: machines[1].engine).syncOnce()
        #expect(report.statistics.recordsSent == 0)
        #expect(report.statistics.recordsReceived == 0)
        try await machines[0].add(11...15)
        report = try await SyncConnector(machines[1].engine, to: machines[0].engine).syncOnce()
        #expect(report.statistics.recordsReceived == 5)
        for machine in machines { #expect(try await machine.sync().changes.count == 0) }
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
    }

    /// Two are on one network, the third comes to the mailbox alone; the one that wrote never does.
    @Test func whatCameOverTheNetworkGoesOnThroughTheMailbox() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(1...10)
        _ = try await SyncConnector(machines[0].engine, to: machines[1].engine).syncOnce()
        try await machines[1].sync()
        try await machines[2].sync()
        try await MailboxMachine.expectEqual(machines)
    }

    @Test func aNewcomerReadsALogFromItsBeginning() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        for number in 0..<5 {
            try await kitchen.add(number * 10..<number * 10 + 10)
            try await kitchen.write("DELETE FROM Item WHERE id = '\(number * 10)'")
            try await MailboxMachine.settle([kitchen, study])
        }
        let attic = try await MailboxMachine("attic", disk)
        try await MailboxMachine.pair([kitchen, study, attic])
        try await MailboxMachine.settle([kitchen, study, attic])
        try await MailboxMachine.expectEqual([kitchen, study, attic])
        #expect(try await kitchen.mailbox.check().isSound)
    }

    @Test func aReadOnlyMachineReadsAndIsNotRead() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let guest = try await MailboxMachine("guest", disk)
        try await MailboxMachine.pair([kitchen, guest])
        _ = try await kitchen.store.zones.grant(.read, to: "guest", in: kitchen.store.zones.all()[0].name)
        try await kitchen.add(1...3)
        try await kitchen.sync()
        try await guest.sync()
        #expect(try await guest.titles().count == 3)
        try await guest.write("UPDATE Item SET title = 'mine'")
        for machine in [guest, kitchen, guest] { try await machine.sync() }
        #expect(try await kitchen.titles().contains("mine") == false)
        let refusing = try await guest.store.database.read { db in
            try guest.store.zones.machinesRefusingWrites(db, in: try guest.store.zones.all(db)[0])
        }
        #expect(refusing == ["kitchen"])
    }

    /// Introductions and removals travel, and a removed machine can open nothing that comes later.
    @Test func aRemovedMachineReadsNothingNew() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        try await machines[2].add(1...5)
        try await MailboxMachine.settle(machines)
        try await machines[2].add(6...6)
        try await machines[2].sync()
        // b has it from c's log, and a never reads that again.
        try await machines[1].sync()
        _ = try await machines[0].store.household.remove("c", by: machines[0].key)
        try await MailboxMachine.settle([machines[0], machines[1]])
        #expect(machines[1].events.contains { if case .removed("c", "a") = $0 { true } else { false } })
        try await machines[0].add(7...7)
        try await MailboxMachine.settle([machines[0], machines[1]])
        try await MailboxMachine.expectEqual([machines[0], machines[1]])
        #expect(try await machines[0].titles().count == 7)
        try await machines[2].sync()
        #expect(try await machines[2].titles().count == 6)
    }

    /// The head that says so is not new any more.
    @Test func aRemovalIsTakenAfterAPassThatFailedWithIt() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        try await MailboxMachine.settle(machines)
        let b = machines[1]
        _ = try await machines[0].store.household.remove("c", by: machines[0].key)
        try await machines[0].sync()
        try await b.database.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER trouble BEFORE DELETE ON grdb_sync_peer
                    BEGIN SELECT RAISE(ABORT, 'trouble'); END
                    """)
        }
        await #expect(throws: (any Error).self) { try await b.sync() }
        #expect(try await b.store.peers.all().contains { $0.name == "c" })
        try await b.database.write { try $0.execute(sql: "DROP TRIGGER trouble") }
        try await b.sync()
        #expect(try await !b.store.peers.all().contains { $0.name == "c" })
        #expect(b.events.contains { if case .removed("c", "a") = $0 { true } else { false } })
    }

    @Test func aSwitchedOffStoreDoesNothing() async throws {
        let machine = try await MailboxMachine("a", MemoryDisk())
        try await machine.store.settings.setSyncOn(false)
        let error = await #expect(throws: PeerSyncError.self) { try await machine.sync() }
        #expect(error?.code == .switchedOff)
        #expect(machine.storage.counts == MemoryStorage.Counts())
    }

    /// A log with many changes gets a successor, and the mailbox does not grow without end.
    @Test func aMailboxDoesNotGrowWithoutEnd() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        try await machines[0].add(1...5)
        try await MailboxMachine.settle(machines)
        var greatest = 0
        for number in 0..<(LogWriter.maximumChanges + 40) {
            try await machines[0].write("UPDATE Item SET number = \(number) WHERE id = '1'")
            try await machines[0].sync()
            if number.isMultiple(of: 50) { try await machines[1].sync() }
            greatest = max(greatest, disk.objects.count)
        }
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        // And what comes until the reader has seen the new log.
        #expect(greatest < LogWriter.maximumChanges + 60)
        #expect(disk.objects.count < 60)
    }

    /// Whoever syncs once and goes away has what lies there.
    @Test func whoIsIntroducedIsHeardInTheSamePass() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        let attic = try await MailboxMachine("attic", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await MailboxMachine.pair([kitchen, attic])
        try await attic.add(1...1)
        for machine in [kitchen, attic] { try await machine.sync() }
        try await study.sync()
        #expect(try await study.titles() == ["Item number 1"])
        try await MailboxMachine.settle([kitchen, study, attic])
        try await MailboxMachine.expectEqual([kitchen, study, attic])
    }

    /// What all have, waits for nobody, whoever wrote it and in whatever order they looked.
    @Test(arguments: [[1, 2, 0], [2, 1, 0], [1, 0, 2]]) func whatAllHaveWaitsForNobody(order: [Int])
        async throws
    {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["kitchen", "study", "attic"], disk)
        try await machines[0].add(1...3)
        try await MailboxMachine.settle(machines)
        for round in 0..<3 {
            try await machines[1].add((10 + round)...(10 + round))
            for _ in 0..<3 { for number in order { try await machines[number].sync() } }
            try await MailboxMachine.expectEqual(machines)
            for machine in machines {
                let pending = try await machine.store.database.read { try machine.store.status($0).peerZones }
                    .map(\.pending)
                #expect(pending == [0, 0], "\(machine.name)")
            }
        }
    }
}
