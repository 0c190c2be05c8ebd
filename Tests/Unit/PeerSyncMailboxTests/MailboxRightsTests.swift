import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// A machine that may do less than before hears it from the heads of the other one.
@Suite(.timeLimit(.minutes(10))) struct MailboxRightsTests {
    /// The study has a zone “club” that it shares with the kitchen. The attic reads all that the study has, so that it goes on writing.
    private struct Household {
        let disk = MemoryDisk()
        let kitchen: MailboxMachine
        let study: MailboxMachine
        let attic: MailboxMachine

        init(_ clock: SetClock = SetClock(1_700_000_000_000)) async throws {
            kitchen = try await MailboxMachine("kitchen", disk, clock: clock)
            study = try await MailboxMachine("study", disk, clock: clock)
            attic = try await MailboxMachine("attic", disk, clock: clock)
            try await MailboxMachine.pair([kitchen, study, attic])
            _ = try await study.store.zones.create("club")
            try await grant(.write, in: "club")
            try await meet()
            try await MailboxMachine.settle([kitchen, study, attic])
        }

        /// Lets the study say what the kitchen may do.
        func grant(_ rights: ZoneRights, in zone: String = "ScorebookData") async throws {
            _ = try await study.store.zones.grant(rights, to: "kitchen", in: zone)
        }

        func meet() async throws {
            _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        }

        /// The study puts a head that the kitchen gets.
        func studyWrites(_ id: Int) async throws {
            try await study.add(id...id)
            try await study.sync()
            try await kitchen.sync()
        }

        /// A program that remembers nothing of the passes before looks into the mailbox.
        func kitchenStartsAnew() async throws {
            let entry = try await kitchen.store.mailboxes.all()[0]
            try await Mailbox(kitchen.engine, entry, in: kitchen.storage).syncOnce()
        }

        /// What the kitchen may do at the study, in each of its zones.
        func rights() async throws -> [ZoneRights?] {
            try await kitchen.store.database.read { try kitchen.store.status($0).peerZones }
                .filter { $0.peer == "study" }.map(\.ownRights)
        }

        func obstacles() async throws -> [PeerZoneStatus.Obstacle?] {
            try await kitchen.store.database.read { try kitchen.store.status($0).peerZones }
                .filter { $0.peer == "study" }.map(\.obstacle)
        }

        /// The code of what the kitchen remembers as wrong with the study.
        func problem() async throws -> String? {
            try await kitchen.store.mailboxes.all()[0].machines.first { $0.name == "study" }?.problemCode
        }

        /// The zones of which the kitchen was told that the study shares them no more.
        var ended: [String] {
            kitchen.events.compactMap { event in
                if case .zoneEnded("study", let zone) = event { zone ?? "ScorebookData" } else { nil }
            }
        }
    }

    @Test func aZoneThatIsSharedNoMoreIsTold() async throws {
        let household = try await Household()
        #expect(try await household.rights() == [.write, .write])
        try await household.grant(.none, in: "club")
        try await household.studyWrites(1)
        #expect(try await household.rights() == [.write, ZoneRights.none])
        #expect(try await household.obstacles() == [nil, .notShared])
        #expect(household.ended == ["club"])
        #expect(try await household.problem() == nil)
        #expect(try await household.kitchen.titles() == ["Item number 1"])
        try await household.studyWrites(2)
        #expect(household.ended == ["club"])
        try await household.grant(.read, in: "club")
        try await household.studyWrites(3)
        #expect(try await household.rights() == [.write, .read])
        #expect(try await household.obstacles() == [nil, .readOnly])
    }

    @Test func whoMayReadNothingAnyMoreIsTold() async throws {
        let household = try await Household()
        try await household.grant(.none)
        try await household.grant(.none, in: "club")
        try await household.studyWrites(1)
        #expect(try await household.rights() == [ZoneRights.none, ZoneRights.none])
        #expect(try await household.problem() == "notShared")
        #expect(household.kitchen.stops == ["study"] && household.ended.isEmpty)
        // What the attic brings goes on.
        try await MailboxMachine.settle([household.attic, household.kitchen, household.study])
        #expect(try await household.kitchen.titles() == ["Item number 1"])
        try await household.studyWrites(2)
        #expect(household.kitchen.stops == ["study"])
        try await household.grant(.write)
        try await household.studyWrites(3)
        #expect(try await household.rights() == [.write, ZoneRights.none])
        #expect(try await household.problem() == nil)
    }

    @Test func whoIsRemovedIsTold() async throws {
        let household = try await Household()
        let study = household.study
        let member = try await study.store.household.member("kitchen")
        _ = try await study.store.household.remove(member.key, by: study.key)
        try await household.studyWrites(1)
        #expect(try await household.rights() == [ZoneRights.none, ZoneRights.none])
        #expect(try await household.problem() == "notShared")
        let check = try await household.kitchen.mailbox.check()
        #expect(check.unread.mapValues(\.code) == ["study": .notShared])
        #expect(check.problems.isEmpty && !check.isSound)
    }

    /// The head that said nothing is still the last one there.
    @Test func whatASessionSaysHoldsUntilTheNextHead() async throws {
        let household = try await Household()
        try await household.grant(.none)
        try await household.grant(.none, in: "club")
        try await household.studyWrites(1)
        try await household.grant(.write)
        try await household.meet()
        try await household.kitchenStartsAnew()
        #expect(try await household.rights() == [.write, ZoneRights.none])
        try await household.grant(.none)
        try await household.studyWrites(2)
        #expect(try await household.rights() == [ZoneRights.none, ZoneRights.none])
    }

    /// The head came, and then the storage could not be reached.
    @Test func whatAHeadGivesIsNotLostWithTheRestOfThePass() async throws {
        let household = try await Household()
        let kitchen = household.kitchen
        try await household.grant(.none)
        try await household.studyWrites(1)
        #expect(try await household.rights() == [ZoneRights.none, .write])
        try await household.grant(.write)
        try await household.study.add(2...2)
        try await household.study.sync()
        let cut = GettingStorage(kitchen.storage) { name in
            if name.folder != MailboxFormat.heads {
                throw MailboxError(.unreachable, "the storage was cut off")
            }
        }
        let entry = try await kitchen.store.mailboxes.all()[0]
        await #expect(throws: MailboxError.self) {
            try await Mailbox(kitchen.engine, entry, in: cut).syncOnce()
        }
        #expect(try await household.rights() == [.write, .write])
        try await kitchen.sync()
        #expect(try await household.rights() == [.write, .write])
        #expect(try await kitchen.titles() == ["Item number 1", "Item number 2"])
    }

    /// A head of before, of when the kitchen might do nothing, comes back.
    @Test func anOlderHeadTakesNothingAway() async throws {
        let household = try await Household()
        try await household.grant(.none)
        try await household.grant(.none, in: "club")
        try await household.studyWrites(1)
        let older = household.disk.objects
        try await household.studyWrites(2)
        try await household.grant(.write)
        try await household.meet()
        household.disk.objects = older
        try await household.kitchenStartsAnew()
        #expect(try await household.rights() == [.write, ZoneRights.none])
        try await household.studyWrites(3)
        #expect(try await household.rights() == [.write, ZoneRights.none])
        household.disk.objects = older
        try await household.kitchenStartsAnew()
        #expect(try await household.rights() == [.write, ZoneRights.none])
    }

    /// A head that was put before the two met comes late.
    @Test func aSessionKnowsBetterThanAnOlderHead() async throws {
        let clock = SetClock(1_700_000_000_000)
        let household = try await Household(clock)
        try await household.grant(.none, in: "club")
        try await household.study.sync()
        clock.milliseconds += 3600 * 1000
        try await household.grant(.write, in: "club")
        try await household.meet()
        try await household.kitchen.sync()
        #expect(try await household.rights() == [.write, .write])
        #expect(household.ended == [])
        // The next one counts.
        try await household.grant(.none, in: "club")
        try await household.studyWrites(8)
        #expect(household.ended == ["club"])
    }

    /// Nobody can open the time of a head that says nothing.
    @Test func aSessionKnowsBetterThanAnOlderHeadForNobody() async throws {
        let clock = SetClock(1_700_000_000_000)
        let household = try await Household(clock)
        try await household.grant(.none)
        try await household.grant(.none, in: "club")
        try await household.study.sync()
        clock.milliseconds += 3600 * 1000
        try await household.grant(.write)
        try await household.grant(.write, in: "club")
        try await household.meet()
        try await household.kitchen.sync()
        #expect(try await household.rights() == [.write, .write])
        #expect(try await household.problem() == "notShared")
    }

    /// The kitchen looks into the cellar only after the study has left something newer on the shelf.
    @Test func anOlderHeadForNobodyInAnotherMailboxTakesNothingAway() async throws {
        let clock = SetClock(1_700_000_000_000)
        let household = try await Household(clock)
        let disk = MemoryDisk()
        func cellar(of machine: MailboxMachine) async throws -> Mailbox {
            let entry = try await machine.store.mailboxes.add("cellar", location: "elsewhere")
            return Mailbox(machine.engine, entry, in: MemoryStorage(disk))
        }
        let study = try await cellar(of: household.study)
        let kitchen = try await cellar(of: household.kitchen)
        for mailbox in [study, kitchen] { try await mailbox.syncOnce() }
        try await household.grant(.none)
        try await household.grant(.none, in: "club")
        clock.milliseconds += 1000
        try await study.syncOnce()
        try await household.studyWrites(1)
        #expect(try await household.rights() == [ZoneRights.none, ZoneRights.none])
        try await household.grant(.write)
        clock.milliseconds += 1000
        try await household.studyWrites(2)
        #expect(try await household.rights() == [.write, ZoneRights.none])
        try await kitchen.syncOnce()
        #expect(try await household.rights() == [.write, ZoneRights.none])
        // The next one there counts.
        try await household.grant(.none)
        clock.milliseconds += 1000
        for mailbox in [study, kitchen] { try await mailbox.syncOnce() }
        #expect(try await household.rights() == [ZoneRights.none, ZoneRights.none])
    }
}
