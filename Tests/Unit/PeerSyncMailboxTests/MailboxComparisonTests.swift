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

/// Two machines that have compared everything on the LAN tell each other in a mailbox what they had deleted before.
@Suite(.timeLimit(.minutes(10))) struct MailboxComparisonTests {
    /// The kitchen and the study hold records and have compared them; the attic has what the kitchen deleted before.
    private struct Household {
        let disk = MemoryDisk()
        let kitchen: MailboxMachine
        let study: MailboxMachine
        let attic: MailboxMachine
        var all: [MailboxMachine] { [kitchen, study, attic] }

        /// - Parameter isPut: whether the kitchen has put its deletion into the mailbox when the two meet.
        init(isPut: Bool, kitchenAt directory: URL? = nil) async throws {
            kitchen = try await MailboxMachine(
                "kitchen", disk, path: directory?.appendingPathComponent("kitchen.sqlite").path)
            study = try await MailboxMachine("study", disk)
            attic = try await MailboxMachine("attic", disk)
            try await MailboxMachine.pair([kitchen, study, attic])
            try await study.add(3...3)
            try await study.sync()
            try await kitchen.add(2...2)
            try await kitchen.sync()
            try await attic.add(1...1)
            try await attic.sync()
            try await kitchen.sync()
            try await kitchen.write("DELETE FROM Item WHERE id = '1'")
            if isPut { try await kitchen.sync() }
            _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        }

        func expectEqual() async throws {
            try await MailboxMachine.settle(all)
            try await MailboxMachine.expectEqual(all)
            #expect(try await study.titles() == ["Item number 2", "Item number 3"])
        }
    }

    private func received(_ machine: MailboxMachine, from other: MailboxMachine) async throws -> ChangeToken?
    {
        let peer = try await machine.peer(other)
        return try await machine.store.database.read { db in
            try ZoneLog(machine.store, machine.store.zones.all(db)[0]).received(db, from: peer)
        }
    }

    private func compared(_ machine: MailboxMachine, with other: MailboxMachine) async throws -> Int64 {
        let peer = try await machine.peer(other)
        return try await machine.store.database.read { db in
            try ZoneLog(machine.store, machine.store.zones.all(db)[0]).compared(db, with: peer)
        }
    }

    /// The token of the comparison covers the deletion, which the study has not heard of: it reads the log all the same.
    @Test(arguments: [true, false]) func aDeletionFromBeforeAComparisonIsRead(isPut: Bool) async throws {
        let household = try await Household(isPut: isPut)
        // The attic's copy comes, and the kitchen's deletion with it or afterwards.
        try await household.study.sync()
        try await household.expectEqual()
    }

    /// The author may otherwise remove the segments with the deletion.
    @Test func nobodySaysThatItHasReadWhatAComparisonCovers() async throws {
        let household = try await Household(isPut: true)
        let (kitchen, study) = (household.kitchen, household.study)
        let log = try await kitchen.store.database.read { try OwnLog.all($0, mailbox: 1)[0] }
        let peer = try await study.peer(kitchen)
        func reading() async throws -> Reading? {
            try await study.store.database.read {
                try Reading.find($0, mailbox: 1, peer: peer.id, zone: 1)
            }
        }
        #expect(try await reading() == nil)
        // The deletion has not come yet.
        let name = Segment.name(
            UInt64(log.segments), of: kitchen.author,
            logKey: AuthorSecrets(kitchen.identity.keyPair, app: kitchen.engine.app).key(of: log.log))
        let late = try #require(household.disk.objects[name])
        household.disk.objects[name] = nil
        try await study.sync()
        #expect(try await reading()?.segment == log.segments - 1)
        household.disk.objects[name] = late
        try await study.sync()
        #expect(try await reading()?.segment == log.segments)
        #expect(try await study.titles() == ["Item number 2", "Item number 3"])
    }

    /// Once the log was read to its end, what came over the LAN is passed over again.
    @Test func aLogIsReadOnceForAComparison() async throws {
        let household = try await Household(isPut: true)
        let (kitchen, study) = (household.kitchen, household.study)
        #expect(try await compared(study, with: kitchen) > 0)
        try await household.expectEqual()
        // The kitchen's log covers all that the two have compared.
        try await kitchen.add(4...4)
        try await MailboxMachine.settle(household.all)
        #expect(try await compared(study, with: kitchen) == 0)
        try await kitchen.add(5...5)
        _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        try await kitchen.sync()
        #expect(try await study.sync().segmentsRead == 0)
    }

    /// Whoever got a whole copy has been told all deletions.
    @Test func aWholeCopyIsNotReadAgain() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...3)
        try await kitchen.write("DELETE FROM Item WHERE id = '1'")
        _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        try await kitchen.sync()
        #expect(try await study.sync().segmentsRead == 0)
        #expect(try await compared(study, with: kitchen) == 0)
    }

    /// The author may have been set back to a backup, so what the network brought beyond the head tells nothing of the log.
    @Test func aTokenBeyondTheHeadPassesOverNothingOfALogThatWasNeverRead() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...3)
        try await kitchen.sync()
        try await kitchen.add(4...4)
        _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        let newest = try await received(study, from: kitchen)
        #expect(try await compared(study, with: kitchen) == 0)
        #expect(try await study.sync().segmentsRead == 1)
        #expect(try await received(study, from: kitchen) == newest)
        #expect(try await study.titles().count == 4)
    }

    // MARK: While a session runs

    /// The two sides of a session compare their digests when each holds the other's last token.
    @Test func aLogThatIsReadFromItsBeginningTakesNoTokenBack() async throws {
        try await withTemporaryDirectory { directory in
            let household = try await Household(isPut: true, kitchenAt: directory)
            let study = household.study
            // Each run of a program has tokens of its own.
            let kitchen = try await MailboxMachine(
                "kitchen", household.disk, path: directory.appendingPathComponent("kitchen.sqlite").path,
                identity: household.kitchen.identity)
            try await kitchen.add(4...4)
            _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
            let newest = try await received(study, from: kitchen)
            #expect(try await compared(study, with: kitchen) > 0)
            #expect(try await study.sync().segmentsRead > 0)
            #expect(try await received(study, from: kitchen) == newest)
        }
    }

    /// What the machine has read goes with the rest, so the log must begin anew.
    @Test func aMachineThatStartsOverMeanwhileReadsTheLogAnew() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...3)
        try await MailboxMachine.settle([kitchen, study])
        try await kitchen.add(4...4)
        try await kitchen.sync()
        let peer = try await study.peer(kitchen)
        let storage = GettingStorage(study.storage) { [store = study.store] name in
            guard name.folder != MailboxFormat.heads else { return }
            try await store.database.write { db in
                _ = try store.exchange.startOver(
                    db, with: peer, in: [(store.zones.all(db)[0], heldByPeer: nil)])
            }
        }
        try await Mailbox(study.engine, try await study.store.mailboxes.all()[0], in: storage).syncOnce()
        #expect(try await received(study, from: kitchen) == .start)
        #expect(try await study.titles().isEmpty)
        try await MailboxMachine.settle([kitchen, study])
        try await MailboxMachine.expectEqual([kitchen, study])
        #expect(try await study.titles().count == 4)
    }

    /// The same where the machine has read nothing of the log yet, and passes over what the network brought.
    @Test func aMachineThatStartsOverInItsFirstVisitPassesOverNothing() async throws {
        let disk = MemoryDisk()
        let kitchen = try await MailboxMachine("kitchen", disk)
        let study = try await MailboxMachine("study", disk)
        try await MailboxMachine.pair([kitchen, study])
        try await kitchen.add(1...3)
        _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        try await kitchen.sync()
        try await kitchen.add(4...4)
        try await kitchen.sync()
        let peer = try await study.peer(kitchen)
        let storage = GettingStorage(study.storage) { [store = study.store] name in
            guard name.folder != MailboxFormat.heads else { return }
            try await store.database.write { db in
                _ = try store.exchange.startOver(
                    db, with: peer, in: [(store.zones.all(db)[0], heldByPeer: nil)])
                // The first batch of a whole copy.
                try db.execute(
                    sql: """
                        UPDATE grdb_sync_peerZone SET receivedGeneration = zeroblob(20), receivedSequence = 1000
                        WHERE peer = ?
                        """, arguments: [peer.id])
            }
        }
        try await Mailbox(study.engine, try await study.store.mailboxes.all()[0], in: storage).syncOnce()
        #expect(try await study.titles().isEmpty)
        let reading = try await study.store.database.read {
            try Reading.find($0, mailbox: 1, peer: peer.id, zone: 1)
        }
        #expect(reading == nil)
    }
}
