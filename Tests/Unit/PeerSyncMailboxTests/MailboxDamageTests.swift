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

/// What the storage has damaged of an author, the author puts anew: readers tell it, and it looks itself.
@Suite(.timeLimit(.minutes(10))) struct MailboxDamageTests {
    private struct Household {
        let disk = MemoryDisk()
        let kitchen: MailboxMachine
        let study: MailboxMachine

        init(_ clock: SetClock = SetClock(1_700_000_000_000)) async throws {
            kitchen = try await MailboxMachine("kitchen", disk, clock: clock)
            study = try await MailboxMachine("study", disk, clock: clock)
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
            return log.names(by: secrets)
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

    /// A put that was given up may be carried out after the next one of the same number.
    @Test func anOlderSegmentOfTheSameNumberIsDamaged() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        let given = Mutex<MailboxObjectName?>(nil)
        let storage = HookedStorage(kitchen.storage) { name in
            given.withLock { $0 = name }
            throw MailboxError(.unreachable, "the network is gone")
        }
        let mailbox = Mailbox(kitchen.engine, try await kitchen.store.mailboxes.all()[0], in: storage)
        await #expect(throws: MailboxError.self) { try await mailbox.syncOnce() }
        let name = try #require(given.withLock { $0 })
        let older = try #require(household.disk.objects[name])
        try await kitchen.add(3...3)
        try await kitchen.sync()
        #expect(try await household.segments().last == name)
        household.disk.objects[name] = older

        try await study.sync()
        #expect(study.stops == ["kitchen"])
        #expect(try await study.titles() == ["Item number 1"])
        try await kitchen.sync()
        #expect(household.hasToldLoss)
        try await study.sync()
        #expect(try await study.titles() == (1...3).map { "Item number \($0)" })
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

    /// What was damaged is gone with the log; a name that says nothing to the author costs no request.
    @Test func whatIsNoObjectOfTheAuthorIsPassedOver() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        let damaged = try #require(try await household.segments().last)
        household.damage(damaged)
        try await study.sync()
        // Another program has begun another log meanwhile.
        try await kitchen.store.database.write { db in
            try OwnLog.voidAll(db, mailbox: 1)
            try db.execute(sql: "UPDATE grdb_sync_mailboxLog SET phase = 2, replacedAt = 0")
        }
        let asked = Mutex<[MailboxObjectName]>([])
        let storage = GettingStorage(kitchen.storage) { name in asked.withLock { $0.append(name) } }
        try await Mailbox(kitchen.engine, kitchen.store.mailboxes.all()[0], in: storage).syncOnce()
        #expect(asked.withLock { !$0.contains(damaged) })
        try await household.expectEqual()
    }

    /// The head that told it is not new any more when the next pass comes.
    @Test func whatWasToldOutlastsAPassThatFails() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        let name = try #require(try await household.segments().last)
        let failures = Mutex(0)
        let storage = GettingStorage(kitchen.storage) { got in
            let isFirst = failures.withLock { count in
                count += got == name ? 1 : 0
                return count == 1
            }
            if got == name, isFirst { throw MailboxError(.unreachable, "the network is gone") }
        }
        let mailbox = Mailbox(kitchen.engine, try await kitchen.store.mailboxes.all()[0], in: storage)
        // It has looked for what is lost: the list has everything.
        try await mailbox.syncOnce()
        household.damage(name)
        try await study.sync()
        await #expect(throws: MailboxError.self) { try await mailbox.syncOnce() }
        try await mailbox.syncOnce()
        try await study.sync()
        #expect(try await study.titles() == ["Item number 1", "Item number 2"])
    }

    /// Where a storage damages all that is put, two machines would otherwise answer each other for ever.
    @Test func anAuthorHeedsWhatIsToldOnceInAnHour() async throws {
        let clock = SetClock(1_700_000_000_000)
        let household = try await Household(clock)
        let (kitchen, study) = (household.kitchen, household.study)
        for number in 2...4 {
            try await kitchen.add(number...number)
            try await kitchen.sync()
            let name = try #require(try await household.segments().last)
            household.damage(name)
            try await study.sync()
            try await kitchen.sync()
            // The second one waits.
            #expect((household.disk.objects[name] == nil) == (number != 3))
            if number == 3 { clock.milliseconds += MailboxPass.damageInterval }
            try await kitchen.sync()
            if number == 3 { #expect(household.disk.objects[name] == nil) }
            clock.milliseconds += number == 3 ? MailboxPass.damageInterval : 1
        }
        try await household.expectEqual()
    }

    /// Lists lag, and folders are copied in any order; after ten minutes nobody waits for that any more.
    @Test func aReaderTellsOfWhatDoesNotCome() async throws {
        let clock = SetClock(1_700_000_000_000)
        let household = try await Household(clock)
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        household.disk.objects[try #require(try await household.segments().last)] = nil
        for _ in 0..<2 {
            try await study.sync()
            try await kitchen.sync()
        }
        #expect(!household.hasToldLoss)
        clock.milliseconds += 10 * 60 * 1000
        try await study.sync()
        try await kitchen.sync()
        try await study.sync()
        #expect(try await study.titles() == ["Item number 1", "Item number 2"])
        try await household.expectEqual()
    }

    /// Whoever may write there must not stop everybody with one large object.
    @Test func whatIsTooLargeIsDamaged() async throws {
        let household = try await Household()
        let (kitchen, study) = (household.kitchen, household.study)
        try await kitchen.add(2...2)
        try await kitchen.sync()
        try await study.add(3...3)
        let large = try #require(try await household.segments().last)
        let storage = GettingStorage(study.storage) { name in
            if name == large { throw MailboxError(.unreadable, "it is too large") }
        }
        let report = try await Mailbox(study.engine, study.store.mailboxes.all()[0], in: storage).syncOnce()
        #expect(report.segmentsPut == 1)
        #expect(try await study.store.mailboxes.all()[0].machines[0].problemCode == "invalid")
    }

    /// Papa wrote it, and does not come to put it anew. The kitchen has it, and had left it to him; it waits for him for an hour.
    @Test(arguments: [false, true]) func whatIsDamagedOfWhoIsAwayComesFromAnother(isHead: Bool) async throws {
        let clock = SetClock(1_700_000_000_000)
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["kitchen", "study", "papa"], disk, clock: clock)
        let (kitchen, study, papa) = (machines[0], machines[1], machines[2])
        try await MailboxMachine.settle(machines)
        let before = Set(disk.objects.keys)
        try await papa.add(1...1)
        for machine in [papa, kitchen] { try await machine.sync() }
        let new = disk.objects.keys.filter { !before.contains($0) }
        let damaged = new.first {
            isHead ? AuthorID.parse($0)?.author == papa.author : $0.folder == papa.author.folder
        }
        disk.change(try #require(damaged)) { $0[$0.count - 1] ^= 1 }
        func log() async throws -> LogID? {
            try await kitchen.store.database.read { db in
                try OwnLog.all(db, mailbox: 1).first { $0.phase == .named }?.log
            }
        }
        let former = try await log()
        for machine in [study, kitchen, study] { try await machine.sync() }
        #expect(try await study.titles() == [])
        #expect(try await log() == former)
        clock.milliseconds += LeavingOut.patience
        for machine in [kitchen, study] { try await machine.sync() }
        #expect(try await study.titles() == ["Item number 1"])
        let whole = try await log()
        #expect(whole != former)
        // That one leaves out nothing of papa's, and stays.
        for machine in [kitchen, study, kitchen] { try await machine.sync() }
        #expect(try await log() == whole)
        try await MailboxMachine.settle(machines)
        try await MailboxMachine.expectEqual(machines)
        // And so it does when all is well again.
        #expect(try await log() == whole)
    }
}
