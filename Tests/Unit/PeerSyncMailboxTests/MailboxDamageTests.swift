import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// What the storage has damaged of an author, the author puts anew: readers tell it, and it looks itself.
@Suite(.timeLimit(.minutes(10))) struct MailboxDamageTests {
    private struct Household {
        let disk = MemoryDisk()
        let kitchen: MailboxMachine
        let study: MailboxMachine

        init() async throws {
            kitchen = try await MailboxMachine("kitchen", disk)
            study = try await MailboxMachine("study", disk)
            try await MailboxMachine.pair([kitchen, study])
            try await kitchen.add(1...1)
            try await MailboxMachine.settle([kitchen, study])
        }

        /// The log that the kitchen's head names.
        func log() async throws -> OwnLog {
            try #require(
                try await kitchen.store.database.read { db in
                    try OwnLog.all(db, mailbox: 1).first { $0.phase == .named }
                })
        }

        /// The names of the kitchen's segments.
        func segments() async throws -> [MailboxObjectName] {
            let log = try await log()
            let secrets = AuthorSecrets(kitchen.identity.keyPair, app: kitchen.engine.app)
            return log.names(by: kitchen.author, key: secrets.key(of: log.log))
        }

        func headOfKitchen() throws -> MailboxObjectName {
            let heads = disk.objects.keys.filter { AuthorID.parse($0)?.author == kitchen.author }
            return try #require(heads.max())
        }

        /// Whether the kitchen has told its user that the storage had lost something.
        var hasToldLoss: Bool {
            kitchen.events.contains { if case .ownObjectsLost = $0 { true } else { false } }
        }

        func damage(_ name: MailboxObjectName) { disk.change(name) { $0[40] ^= 1 } }

        func expectEqual() async throws {
            try await MailboxMachine.settle([kitchen, study])
            try await MailboxMachine.expectEqual([kitchen, study])
        }

        /// As the kitchen says it after its program has begun anew.
        func beginAnew() async throws -> MailboxReport {
            try await Mailbox(kitchen.engine, kitchen.store.mailboxes.all()[0], in: kitchen.storage)
                .syncOnce()
        }
    }

    @Test func aReaderTellsOfADamagedSegment() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        household.damage(try #require(try await household.segments().last))
        #expect(try await study.sync().hasPutHead)
        // It tells that once, however often it tries.
        #expect(try await !study.sync().hasPutHead)
        let before = try await household.log().log
        try await kitchen.sync()
        #expect(household.hasToldLoss)
        #expect(try await household.log().log != before)
        try await study.sync()
        #expect(try await study.titles() == ["Item number 1", "Item number 2"])
        try await household.expectEqual()
    }

    /// A newcomer has read nothing of the log yet.
    @Test func aReaderTellsOfADamagedBase() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        household.damage(try #require(try await household.segments().first))
        try await study.store.database.write { db in
            try db.execute(
                sql:
                    "DELETE FROM grdb_sync_mailboxReading; UPDATE grdb_sync_peerZone SET receivedGeneration = NULL"
            )
        }
        try await study.sync()
        #expect(study.stops == ["kitchen"])
        try await kitchen.sync()
        try await household.expectEqual()
        #expect(try await study.store.mailboxes.all()[0].machines[0].problem == nil)
    }

    /// It may be damaged on its way to the reader alone.
    @Test func whatIsWholeForItsAuthorStays() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        let name = try #require(try await household.segments().last)
        let whole = household.disk.objects[name]
        household.damage(name)
        try await study.sync()
        household.disk.objects[name] = whole
        let before = try await household.log()
        try await kitchen.sync()
        #expect(try await household.log() == before)
        #expect(!household.hasToldLoss)
        try await household.expectEqual()
    }

    @Test func aReaderTellsOfADamagedHead() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        let head = try household.headOfKitchen()
        household.disk.change(head) { $0[$0.count - 1] ^= 1 }
        try await study.sync()
        #expect(study.stops == ["kitchen"])
        try await kitchen.sync()
        #expect(try household.headOfKitchen() != head)
        #expect(household.disk.objects[head] == nil)
        try await household.expectEqual()
    }

    @Test func anAuthorNoticesItsOwnDamagedHead() async throws {
        let household = try await Household()
        let head = try household.headOfKitchen()
        household.disk.change(head) { $0[$0.count - 1] ^= 1 }
        #expect(try await household.beginAnew().hasPutHead)
        #expect(try household.headOfKitchen() != head)
        #expect(try await !household.beginAnew().hasPutHead)
        try await household.expectEqual()
    }

    /// Whoever has asked need not wait for lists that may lag.
    @Test func aCheckEndsTheWaitingForALostHead() async throws {
        let household = try await Household()
        try await household.kitchen.sync()
        let head = try household.headOfKitchen()
        household.disk.objects[head] = nil
        let check = try await household.kitchen.mailbox.check()
        #expect(check.problems == ["the last head of this machine is not there"])
        #expect(try await household.kitchen.sync().hasPutHead)
        try await household.expectEqual()
    }

    @Test func aCheckNamesTheDamagedHeadOfThisMachine() async throws {
        let household = try await Household()
        let head = try household.headOfKitchen()
        household.disk.change(head) { $0[$0.count - 1] ^= 1 }
        let check = try await household.kitchen.mailbox.check()
        #expect(check.problems == ["the last head of this machine is damaged"])
        #expect(try await household.kitchen.sync().hasPutHead)
        #expect(try await household.kitchen.mailbox.check().isSound)
    }

    /// Names that say nothing to this machine cost no request.
    @Test func whatIsNoObjectOfTheAuthorIsPassedOver() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        household.damage(try #require(try await household.segments().last))
        try await study.sync()
        // The log of which the head tells has gone meanwhile.
        try await kitchen.store.database.write { try OwnLog.voidAll($0, mailbox: 1) }
        try await kitchen.sync()
        let after = try await household.log()
        try await kitchen.sync()
        #expect(try await household.log() == after)
        try await household.expectEqual()
    }
}
