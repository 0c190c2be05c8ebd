import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// What a machine does not take from a mailbox, it tells the machine that wrote it.
@Suite(.timeLimit(.minutes(10))) struct MailboxRefusalTests {
    /// The study has records of its own in another zone, under names that the kitchen uses, too.
    private struct Household {
        let disk = MemoryDisk()
        let kitchen: MailboxMachine
        let study: MailboxMachine
        var all: [MailboxMachine] { [kitchen, study] }

        /// - Parameter ids: what both write.
        init(_ ids: ClosedRange<Int> = 1...1) async throws {
            kitchen = try await MailboxMachine("kitchen", disk)
            study = try await MailboxMachine("study", disk)
            try await MailboxMachine.pair([kitchen, study])
            let club = try await study.store.zones.create("club")
            let states = try ids.map { id in
                RecordState(
                    name: try RecordName("Item|~|\(id)"),
                    sortedFields: [
                        RecordField(
                            name: "title", value: .text("of the club"),
                            stamp: Stamp(
                                time: HybridTime(milliseconds: 1), replica: study.identity.replicaID))
                    ], deletion: nil, revival: nil, erasure: nil)
            }
            try await study.store.database.write { [store = study.store] db in
                _ = try store.merge(db, states, zone: .one(club))
            }
            try await kitchen.add(ids)
        }

        func settle() async throws { try await MailboxMachine.settle(all) }

        func meet() async throws {
            _ = try await SyncConnector(kitchen.engine, to: study.engine).syncOnce()
        }

        /// Ends the reason for which the study refuses the kitchen's records.
        func mend() async throws {
            _ = try await study.store.zones.delete("club")
            try await kitchen.write("UPDATE Item SET number = 1")
        }

        /// The records of the kitchen that its status names as refused by the study.
        func refused() async throws -> [String] {
            let refused = try await kitchen.store.refusals.all()
            #expect(refused.allSatisfy { $0.peer == "study" && $0.zone == "ScorebookData" })
            return refused.map(\.name.description)
        }

        /// What the kitchen's user was told.
        var told: [String] {
            kitchen.events.flatMap { event -> [String] in
                if case .peerRefusedRecords("study", let names, _) = event {
                    names.map(\.description)
                } else {
                    []
                }
            }
        }

        /// What the study remembers as refused.
        func remembered() async throws -> [String] {
            try await study.database.read { db in
                try String.fetchAll(db, sql: "SELECT recordName FROM grdb_sync_ownRefusal ORDER BY 1")
            }
        }

        /// The number of refused records that the kitchen has no names of.
        func further() async throws -> Int {
            try #require(try await kitchen.store.mailboxes.all()[0].machines.first).furtherRefused
        }
    }

    private static let item = "Item|~|1"

    // MARK: From the reader to the author

    /// Each machine comes to rest: what is refused makes one new head, and nobody answers it.
    @Test func aRefusedRecordIsInTheStatusOfItsAuthor() async throws {
        let household = try await Household()
        try await household.kitchen.add(2...2)
        try await household.settle()
        #expect(try await household.study.titles() == ["of the club", "Item number 2"])
        #expect(try await household.refused() == [Self.item])
        let refused = try await household.kitchen.store.refusals.all()
        #expect(refused.map(\.reason) == [.otherZone])
        #expect(household.told == [Self.item])
        for machine in household.all {
            let report = try await machine.sync()
            #expect(!report.hasPutHead && report.segmentsPut == 0)
        }
        #expect(household.told == [Self.item])
    }

    @Test func itGoesFromTheStatusWhenItIsTaken() async throws {
        let household = try await Household()
        try await household.settle()
        try await household.mend()
        try await household.settle()
        try await MailboxMachine.expectEqual(household.all)
        #expect(try await household.refused().isEmpty)
        #expect(try await household.remembered().isEmpty)
    }

    @Test func itGoesFromTheStatusWhenItIsDeleted() async throws {
        let household = try await Household()
        try await household.settle()
        try await household.kitchen.write("DELETE FROM Item")
        try await household.settle()
        #expect(try await household.refused().isEmpty)
        #expect(try await household.remembered().isEmpty)
        #expect(try await household.study.titles() == ["of the club"])
    }

    @Test func aHeadNamesSomeOfManyAndCountsTheOthers() async throws {
        let household = try await Household(1...70)
        try await household.settle()
        #expect(try await household.refused().count == MailboxLimits.refused)
        #expect(try await household.further() == 70 - MailboxLimits.refused)
        // When there is room for the others, they get their names.
        try await household.kitchen.write(
            "DELETE FROM Item WHERE id IN (SELECT id FROM Item ORDER BY id LIMIT 10)")
        try await household.settle()
        #expect(try await household.refused().count == 60)
        #expect(try await household.further() == 0)
        #expect(household.told.count == 70 && Set(household.told).count == 70)
    }

    /// The author may have forgotten the record meanwhile.
    @Test func whatIsNotInTheLogAnyMoreIsNotRefused() async throws {
        let household = try await Household()
        try await household.settle()
        try await household.study.database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_ownRefusal SELECT peer, zone, 'Item|~|gone', reason FROM grdb_sync_ownRefusal
                    """)
        }
        #expect(try await household.study.sync().hasPutHead)
        try await household.study.database.write { db in
            try db.execute(
                sql:
                    "DELETE FROM grdb_sync_mailboxReading; UPDATE grdb_sync_peerZone SET comparedSequence = 1"
            )
        }
        let report = try await household.study.sync()
        #expect(report.segmentsRead > 0 && report.hasPutHead)
        #expect(try await household.remembered() == [Self.item])
    }

    @Test func aStoreThatReadsEverythingAnewForgetsWhatItHasRefused() async throws {
        let household = try await Household()
        try await household.settle()
        let peer = try await household.study.peer(household.kitchen)
        try await PeerZone(store: household.study.store, peer: peer).write { try $0.voidReceived($1) }
        #expect(try await household.remembered().isEmpty)
        try await household.settle()
        #expect(try await household.refused() == [Self.item])
        #expect(household.told == [Self.item])
    }

    @Test func whatIsOfARemovedMachineIsForgotten() async throws {
        let household = try await Household()
        try await household.settle()
        _ = try await household.study.store.peers.forget("kitchen")
        #expect(try await household.remembered().isEmpty)
    }

    /// The record is nowhere else, whichever way the machine had heard of that.
    @Test func itStaysInTheStatusWhenTheMailboxIsRemoved() async throws {
        let household = try await Household()
        try await household.settle()
        try await household.kitchen.store.mailboxes.remove("shelf")
        #expect(try await household.refused() == [Self.item])
    }

    /// What a machine may not write, nobody reads: it is neither taken nor counted as read.
    @Test func aRightThatIsTakenBackWhileASegmentComesKeepsItOut() async throws {
        let household = try await Household(7...7)
        try await household.settle()
        try await household.kitchen.add(2...2)
        try await household.kitchen.sync()
        let study = household.study
        let storage = GettingStorage(study.storage) { name in
            guard name.folder != MailboxFormat.heads else { return }
            _ = try await study.store.zones.grant(.read, to: "kitchen", in: "ScorebookData")
        }
        let entry = try await study.store.mailboxes.all()[0]
        try await Mailbox(study.engine, entry, in: storage).syncOnce()
        #expect(try await study.titles() == ["of the club"])
        _ = try await study.store.zones.grant(.write, to: "kitchen", in: "ScorebookData")
        try await household.settle()
        #expect(try await study.titles() == ["Item number 2", "of the club"])
    }

    // MARK: Beside sessions

    @Test func aSessionAfterTheMailboxTellsTheSame() async throws {
        let household = try await Household()
        try await household.settle()
        try await household.meet()
        #expect(try await household.refused() == [Self.item])
        try await household.settle()
        #expect(try await household.refused() == [Self.item])
        #expect(household.told == [Self.item])
        // A session brings the end of it, and the mailbox tells.
        try await household.mend()
        try await household.meet()
        #expect(try await household.remembered().isEmpty)
        try await household.settle()
        #expect(try await household.refused().isEmpty)
    }

    @Test func theMailboxAfterASessionTellsTheSame() async throws {
        let household = try await Household()
        try await household.meet()
        #expect(try await household.refused() == [Self.item])
        try await household.settle()
        #expect(try await household.refused() == [Self.item])
        // The session has told it.
        #expect(household.told.isEmpty)
        // From now on the mailbox tells the end of it.
        try await household.kitchen.write("DELETE FROM Item")
        try await household.settle()
        #expect(try await household.refused().isEmpty)
    }

    @Test func whatASessionHasToldIsNotEndedByAnOlderHead() async throws {
        let household = try await Household(1...2)
        try await household.kitchen.write("DELETE FROM Item WHERE id = '1'")
        try await household.settle()
        #expect(try await household.refused() == ["Item|~|2"])
        try await household.kitchen.add(1...1)
        try await household.meet()
        try await household.kitchen.sync()
        #expect(try await household.refused() == [Self.item, "Item|~|2"])
    }

    // MARK: Heads that say something else

    /// Puts a head of the study that says something else than its last one, and lets the kitchen read it.
    private func forge(_ household: Household, _ change: (inout ZoneSection) -> Void) async throws {
        let study = household.study
        let secrets = AuthorSecrets(study.identity.keyPair, app: study.engine.app)
        let reader = AuthorSecrets(household.kitchen.identity.keyPair, app: study.engine.app)
        let (name, object) = try #require(
            household.disk.objects.filter { AuthorID.parse($0.key)?.author == study.author }
                .max { $0.key < $1.key })
        let counter = try #require(AuthorID.parse(name)).counter
        let head = try #require(
            try HeadCodec.open(object, of: study.author, counter: counter, by: study.key, as: reader))
        var section = try #require(head.zones.first).section
        change(&section)
        let other = Head(
            time: head.time, zones: [section], household: nil,
            readers: [Head.Reader(key: household.kitchen.key, rights: [0: .write], hasHousehold: false)])
        household.disk.objects[study.author.headName(counter + 1)] = HeadCodec.seal(
            other, counter: counter + 1, by: secrets)
        try await household.kitchen.sync()
    }

    private func refusal(_ household: Household, _ entries: [(String, Int)]) throws -> ZoneSection.Refused {
        ZoneSection.Refused(
            replica: household.kitchen.identity.replicaID,
            records: try entries.map { .init(name: try RecordName($0.0), reason: $0.1) }, further: 0)
    }

    /// As one of a program from before there was anything to say.
    @Test func aHeadThatSaysNothingEndsNothing() async throws {
        let household = try await Household()
        try await household.settle()
        try await forge(household) { $0.refused = nil }
        #expect(try await household.refused() == [Self.item])
        try await forge(household) { $0.refused = [] }
        #expect(try await household.refused().isEmpty)
    }

    @Test(arguments: [
        ("Item|~|unknown", 2), ("Item|~|2", 1), ("Item|~|2", 77), ("Item|~|2", 0), ("Other|~|2", 3),
    ]) func aHeadThatNamesWhatCannotBeRefusedSoIsPassedOver(name: String, reason: Int) async throws {
        let household = try await Household()
        try await household.kitchen.add(2...2)
        try await household.settle()
        let known = try refusal(household, [(Self.item, 2)])
        let other = try refusal(household, [(Self.item, 2), (name, reason)])
        try await forge(household) { $0.refused = [other, known] }
        #expect(try await household.refused() == [Self.item])
        #expect(household.kitchen.stops.isEmpty)
    }

    /// The record is on its way again as soon as it has changed.
    @Test func whatWasTooLargeAndHasChangedIsNotRefused() async throws {
        let household = try await Household()
        try await household.kitchen.add(2...3)
        try await household.settle()
        try await household.kitchen.write("UPDATE Item SET title = 'shorter' WHERE id = '2'")
        let refusal = try refusal(household, [("Item|~|2", 3), ("Item|~|3", 3)])
        try await forge(household) { $0.refused = [refusal] }
        #expect(try await household.refused() == ["Item|~|3"])
        try await household.kitchen.write("UPDATE Item SET title = 'shorter' WHERE id = '3'")
        try await household.kitchen.sync()
        #expect(try await household.refused().isEmpty)
        #expect(household.told == [Self.item, "Item|~|3"])
    }

    /// What a machine may send again once it may write is not forgotten for what its head says.
    @Test func aRefusalOfASessionForRightsStays() async throws {
        let household = try await Household()
        try await household.settle()
        _ = try await household.study.store.zones.grant(.read, to: "kitchen", in: "ScorebookData")
        try await household.study.sync()
        let peer = try await household.kitchen.peer(household.study)
        let names = [try RecordName(Self.item)]
        try await PeerZone(store: household.kitchen.store, peer: peer).write {
            try $0.noteRefused($1, Refusal(names: names, reason: .readOnly), in: .start)
        }
        try await household.kitchen.sync()
        #expect(try await household.kitchen.store.refusals.all().map(\.reason) == [.readOnly])
    }

    /// The session has moved the token of the reader past it, so it comes only if it is sent again.
    @Test func whatWasRefusedForRightsIsSentAgainWhenAHeadGivesThem() async throws {
        let household = try await Household(7...7)
        try await household.settle()
        let study = household.study
        _ = try await study.store.zones.grant(.read, to: "kitchen", in: "ScorebookData")
        try await household.kitchen.add(2...2)
        try await household.meet()
        #expect(try await household.refused() == ["Item|~|2", "Item|~|7"])
        _ = try await study.store.zones.grant(.write, to: "kitchen", in: "ScorebookData")
        try await household.settle()
        #expect(try await household.refused() == ["Item|~|7"])
        #expect(try await study.titles() == ["Item number 2", "of the club"])
    }

    /// As when the rights were taken away in the middle of a session, and given back before the next one.
    @Test func whatWasRefusedForRightsThatAHeadConfirmsIsSentAgain() async throws {
        let household = try await Household(7...7)
        try await household.kitchen.add(2...2)
        try await household.settle()
        let peer = try await household.kitchen.peer(household.study)
        let names = [try RecordName("Item|~|2")]
        try await PeerZone(store: household.kitchen.store, peer: peer).write {
            try $0.noteRefused($1, Refusal(names: names, reason: .readOnly), in: .start)
        }
        // A head that is known may be older than what a session has said.
        #expect(try await household.kitchen.sync().segmentsPut == 0)
        #expect(try await household.refused() == ["Item|~|2", "Item|~|7"])
        try await household.study.add(3...3)
        try await household.study.sync()
        #expect(try await household.kitchen.sync().segmentsPut == 1)
        #expect(try await household.refused() == ["Item|~|7"])
    }

    /// The study shares nothing with the kitchen any more, so nothing waits for it there.
    @Test(arguments: [false, true])
    func whatIsOfAZoneThatIsNotSharedAnyMoreIsNotRefused(isAnotherShared: Bool) async throws {
        let household = try await Household()
        let study = household.study
        try await household.settle()
        #expect(try await household.refused() == [Self.item])
        if isAnotherShared {
            _ = try await study.store.zones.grant(.write, to: "kitchen", in: "club")
        }
        _ = try await study.store.zones.grant(.none, to: "kitchen", in: "ScorebookData")
        try await study.sync()
        try await household.kitchen.sync()
        #expect(try await household.refused().isEmpty)
    }

    /// Another machine has brought the record into the zone, after it was deleted in the club.
    @Test func whatAnotherMachineHasBroughtIsRefusedNoMore() async throws {
        let household = try await Household()
        try await household.settle()
        let study = household.study
        let peer = try await study.peer(household.kitchen)
        let zone = try await study.store.zones.all()[0]
        func refused() async throws -> Int {
            try await study.store.database.read {
                try ZoneLog(study.store, zone).refused($0, of: peer, limit: 10).named.count
            }
        }
        #expect(try await refused() == 1)
        _ = try await study.store.zones.delete("club")
        let state = RecordState(
            name: try RecordName(Self.item), sortedFields: [], deletion: nil, revival: nil, erasure: nil)
        try await study.store.database.write { _ = try study.store.merge($0, [state], zone: .default) }
        #expect(try await refused() == 0)
    }

    @Test func aHeadThatNamesTooManyIsDamaged() async throws {
        let household = try await Household()
        try await household.settle()
        let many = try refusal(household, (1...MailboxLimits.refused + 1).map { ("Item|~|\($0)", 2) })
        try await forge(household) { $0.refused = [many] }
        #expect(household.kitchen.stops == ["study"])
        #expect(try await household.refused() == [Self.item])
    }
}
