import PeerSyncModel
import PeerSyncStore
import Testing

/// What one peer may have of a store, and where the two go on.
struct PeerZoneTests: PeerRecords {
    private let machine: Machine
    private let peerZone: PeerZone

    init() async throws {
        machine = try Machine("a", number: 1)
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "peer")
        peerZone = PeerZone(store: machine.store, peer: peer)
    }

    /// Writes as a step of its own.
    private func write(_ sql: String) async throws {
        try machine.shell(sql)
        try await machine.store.foldPendingChanges()
    }

    private func addAuthors(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            try await write("INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'x')")
        }
    }

    private func begin(_ held: ChangeToken?) async throws -> PeerZone.Beginning {
        try await machine.store.database.read { [peerZone] in try peerZone.begin($0, heldByPeer: held) }
    }

    private func current() async throws -> ChangeToken {
        try await machine.store.database.read { [peerZone] in try peerZone.summary($0).current }
    }

    private func names(
        after place: ReadingPlace, _ limit: BatchLimit = .standard, for other: PeerZone? = nil
    ) async throws -> [String] {
        var (place, names) = (place, [String]())
        while true {
            let (batch, next) = try await machine.store.database.read { [peerZone, place] in
                try (other ?? peerZone).nextBatch($0, after: place, includingEcho: false, limit: limit)
            }
            names += batch.records.map(\.name.description)
            if batch.isLast { return names }
            place = next
        }
    }

    @discardableResult
    private func apply(_ records: [RecordState], isLoose: Bool = false) async throws -> [Refusal] {
        let token = ChangeToken(generation: [1], sequence: 1)
        let batch = ChangeBatch(records: records, token: token, isLast: true, isLoose: isLoose)
        return try await machine.store.database.write { [peerZone] in try peerZone.apply($0, batch) }
    }

    // MARK: Where to begin

    /// Who began with nothing when deletions were forgotten already does not miss them, also when it is cut off at once.
    @Test func aFirstCopyThatWasCutOffAfterAPurgeGoesOn() async throws {
        try await addAuthors(1...4)
        try await write("DELETE FROM Author WHERE recordName = 'Author|~|4'")
        try await machine.store.peers.forget("peer")
        _ = try await machine.store.database.write { [store = machine.store] in
            try store.upkeep.purge($0, retention: 0)
        }
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 5, count: 32), name: "new")
        let peerZone = PeerZone(store: machine.store, peer: peer)
        let one = BatchLimit(records: 1, bytes: .max, groupRecords: 1, groupBytes: .max)
        let token = try await machine.store.database.write { db in
            let start = try peerZone.begin(db, heldByPeer: nil).start
            let first = try peerZone.nextBatch(
                db, after: ReadingPlace(start), includingEcho: false, limit: one
            )
            .batch
            #expect(first.records.map(\.name.description) == ["Author|~|1"])
            try peerZone.acknowledge(db, first.token)
            return first.token
        }
        let again = try await machine.store.database.read { try peerZone.begin($0, heldByPeer: token) }
        #expect(again.start == token && !again.isHeldTokenVoid)
        let rest = try await names(after: ReadingPlace(again.start), one, for: peerZone)
        #expect(rest == ["Author|~|2", "Author|~|3"])
    }

    @Test func onlyATokenThatWasGivenOutHolds() async throws {
        try await addAuthors(1...3)
        let current = try await current()
        #expect(try await !begin(current).isHeldTokenVoid)
        // Before every change of every store.
        #expect(try await !begin(.start).isHeldTokenVoid)
        var beyond = current
        beyond.sequence += 1
        #expect(try await begin(beyond).isHeldTokenVoid)
    }

    private func behind() async throws -> Int {
        try await machine.store.database.read { [peerZone] db in
            try peerZone.store.peers.zones(db, of: peerZone.peer).map(\.pending).reduce(0, +)
        }
    }

    /// A machine that was restored from a backup holds less than it has acknowledged, and is waited for again.
    @Test func whoSaysThatItHoldsLessIsBehind() async throws {
        try await addAuthors(1...1)
        let early = try await current()
        try await addAuthors(2...3)
        let late = try await current()
        try await machine.store.database.write { [peerZone] in try peerZone.acknowledge($0, late) }
        #expect(try await behind() == 0)
        try await machine.store.database.write { [peerZone] in try peerZone.noteBegun($0, at: early) }
        #expect(try await behind() == 2)
    }

    /// Two processes may have sessions with one peer, and the slower one notes what it has heard last.
    @Test func anAcknowledgementThatComesLateTakesNothingBack() async throws {
        try await addAuthors(1...1)
        let early = try await current()
        try await addAuthors(2...3)
        let late = try await current()
        try await machine.store.database.write { [peerZone] db in
            try peerZone.acknowledge(db, late)
            try peerZone.acknowledge(db, early)
        }
        #expect(try await behind() == 0)
    }

    @Test func aZoneIsSharedOnceBothHaveBegun() async throws {
        #expect(try await machine.store.zones.all().map(\.isShared) == [false])
        try await machine.store.database.write { [peerZone] in try peerZone.noteBegun($0, at: .start) }
        #expect(try await machine.store.zones.all().map(\.isShared) == [true])
    }

    // MARK: What a peer may have

    @Test func aZoneIsNobodysBeforeItIsGranted() async throws {
        let club = try await machine.store.zones.create("club")
        let peerZone = PeerZone(store: machine.store, zone: .one(club), peer: peerZone.peer)
        func begin() async throws {
            _ = try await machine.store.database.read { try peerZone.begin($0, heldByPeer: nil) }
        }
        let error = await #expect(throws: RecordStoreError.self) { try await begin() }
        #expect(error?.code == .notPermitted)
        try await machine.store.zones.grant(.read, to: "peer", in: "club")
        try await begin()
    }

    /// Whoever asks for records by name gets those of the zone alone.
    @Test func nothingOfAnotherZoneIsGiven() async throws {
        try await addAuthors(1...1)
        let club = try await machine.store.zones.create("club")
        try await machine.store.database.write { [store = machine.store] db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'y')")
            _ = try store.fold(db, newIn: .one(club))
        }
        let names = try ["Author|~|1", "Author|~|2", "Author|~|3"].map { try RecordName($0) }
        let given = try await machine.store.database.read { [peerZone] in
            try peerZone.states($0, named: names)
        }
        #expect(given.records.map(\.name.description) == ["Author|~|1"])
        #expect(given.namesRead == 3)
    }

    /// Records that a reconciliation found missing go in batches like all others, however many and large they are.
    @Test func whatIsAskedForByNameFitsIntoABatch() async throws {
        let text = String(repeating: "x", count: 300_000)
        try machine.shell(
            (1...10).map { "INSERT INTO Author (recordName, name) VALUES ('Author|~|\($0)', '\(text)');" }
                .joined())
        try await machine.store.foldPendingChanges()
        var names = try (1...10).map { try RecordName("Author|~|\($0)") }
        var given: [String] = []
        while !names.isEmpty {
            let read = try await machine.store.database.read { [peerZone, names] in
                try peerZone.states($0, named: names)
            }
            #expect(read.records.count == read.namesRead && (1...4).contains(read.namesRead))
            given += read.records.map(\.name.description)
            names.removeFirst(max(read.namesRead, 1))
        }
        #expect(given == (1...10).map { "Author|~|\($0)" })
    }

    /// A row that somebody removed past the triggers is no deletion, and leaves nothing to say.
    @Test(arguments: [10_000, 1])
    func aRowThatVanishedIsNotSent(recordsCopiedInGroups: Int) async throws {
        try await addAuthors(1...3)
        try machine.shell(
            """
            BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1);
            DELETE FROM Author WHERE recordName = 'Author|~|2'; DELETE FROM grdb_sync_capturePause; COMMIT
            """)
        let limit = BatchLimit(
            records: 5, bytes: .max, groupRecords: 5, groupBytes: .max,
            recordsCopiedInGroups: recordsCopiedInGroups)
        #expect(try await names(after: ReadingPlace(.start), limit) == ["Author|~|1", "Author|~|3"])
    }

    // MARK: What a peer sends

    /// Loose records are in no order, so the token that comes with them says nothing of what this side holds.
    @Test func looseRecordsLeaveTheTokenAsItIs() async throws {
        try await apply([author(1)], isLoose: true)
        #expect(try machine.rows("SELECT name FROM Author") == ["Author 1"])
        let received = try await machine.store.database.read { [peerZone] in try peerZone.summary($0).received
        }
        #expect(received == nil)
    }

    /// Another program gives the row to the scorebook of strangers while a session and a pass over a mailbox go on with the zone of before.
    @Test func whatIsAnotherZoneNowIsNotExchanged() async throws {
        let store = machine.store
        let zone = try await store.zones.all()[0]
        let exchange = PeerZone(store: store, zone: .one(zone), peer: peerZone.peer)
        try await addAuthors(1...1)
        try await store.database.write { db in
            try store.zones.adopt(db, ZoneID(name: ZoneName("theirs")!, owner: ReplicaID(rawValue: 9)))
        }
        let batch = ChangeBatch(
            records: [], token: ChangeToken(generation: [1], sequence: 1), isLast: true)
        let attempts: [@Sendable () async throws -> Void] = [
            {
                _ = try await exchange.read {
                    try $0.nextBatch($1, after: ReadingPlace(.start), includingEcho: true)
                }
            },
            { try await exchange.write { try $0.acknowledge($1, batch.token) } },
            { _ = try await exchange.applying { try exchange.apply(batch, in: $0) } },
            { _ = try await store.database.read { try ZoneLog(store, zone).start($0) } },
        ]
        for attempt in attempts {
            let error = await #expect(throws: RecordStoreError.self) { try await attempt() }
            #expect(error?.code == .zonesChanged)
        }
        #expect(try await peerZone.read { try $0.summary($1).received } == nil)
    }

    /// A comparison tells no deletions. In the middle of a session, the peer has told all that its token covers.
    @Test func aComparisonAtTheBeginningIsNoted() async throws {
        func receive(_ sequence: Int64, isLoose: Bool) async throws -> Int64 {
            let token = ChangeToken(generation: [1], sequence: sequence)
            return try await machine.store.database.write { [machine, peerZone] db in
                _ = try peerZone.apply(
                    db, ChangeBatch(records: [], token: token, isLast: true, isLoose: isLoose))
                return try ZoneLog(machine.store, machine.store.zones.all(db)[0])
                    .compared(db, with: peerZone.peer)
            }
        }
        #expect(try await receive(4, isLoose: false) == 0)
        #expect(try await receive(4, isLoose: true) == 0)
        #expect(try await receive(9, isLoose: true) == 9)
        #expect(try await receive(9, isLoose: false) == 9)
        #expect(try await receive(12, isLoose: false) == 9)
        for (read, remaining) in [(8, 9), (9, 0)] as [(Int64, Int64)] {
            let compared = try await machine.store.database.write { [machine, peerZone] db in
                let log = try ZoneLog(machine.store, machine.store.zones.all(db)[0])
                try log.noteRead(db, from: peerZone.peer, upTo: read)
                return try log.compared(db, with: peerZone.peer)
            }
            #expect(compared == remaining)
        }
    }

    /// Two programs of this machine may have a session with the peer each, and the slower one applies last.
    @Test func anOlderTokenOfTheSameGenerationIsNotTakenBack() async throws {
        func receive(_ generation: UInt8, _ sequence: Int64) async throws -> ChangeToken? {
            let token = ChangeToken(generation: [generation], sequence: sequence)
            return try await machine.store.database.write { [peerZone] db in
                _ = try peerZone.apply(db, ChangeBatch(records: [], token: token, isLast: true))
                return try peerZone.summary(db).received
            }
        }
        #expect(try await receive(1, 100)?.sequence == 100)
        #expect(try await receive(1, 60)?.sequence == 100)
        #expect(try await receive(1, 101)?.sequence == 101)
        // The peer was restored from a backup.
        #expect(try await receive(2, 60) == ChangeToken(generation: [2], sequence: 60))
        // The peer has never given the token out, and begins anew.
        try await peerZone.write { try $0.voidReceived($1) }
        #expect(try await receive(2, 7)?.sequence == 7)
    }

    @Test func whatAReaderWritesIsRefusedByName() async throws {
        try await machine.store.zones.grant(.read, to: "peer", in: "ScorebookData")
        let records = try [author(1), author(2)]
        #expect(try await apply(records) == [Refusal(names: records.map(\.name), reason: .readOnly)])
        #expect(try machine.rows("SELECT * FROM Author").isEmpty)
        // The reader need not send them again.
        let received = try await machine.store.database.read { [peerZone] in try peerZone.summary($0).received
        }
        #expect(received?.sequence == 1)
    }

    /// Held records are there, and wait, so a reconciliation asks nobody for them.
    @Test func theInventoryHasWhatIsHeld() async throws {
        try await apply([author(1), book(1, by: "Author|~|1"), book(2, by: "Author|~|none")])
        #expect(try await machine.status().held == 1)
        let items = try await machine.store.database.read { [peerZone] in try peerZone.inventory($0).items }
        #expect(items.count == 3)
    }

    /// The store computes most items without making values of the metadata.
    @Test func theItemsAreThoseOfTheStates() async throws {
        try await apply([author(1), book(1, by: "Author|~|1"), book(2, by: "Author|~|none")])
        try await apply([record("Author|~|2", ["name": .text("Brontë")], at: later(5))])
        try await apply([record("Author|~|1", ["name": .text("late")], at: later(10))])
        let (items, expected) = try await machine.store.database.read {
            [peerZone, store = machine.store] db in
            var expected: [NegentropyItem] = []
            try store.listing.forEachState(db) { state in
                let item = NegentropyItem(
                    name: state.name, stamps: state.fields.map { (field: $0.name, stamp: $0.stamp) },
                    valueHash: RecordID.valueHash(of: state.fields), revival: state.revival)
                expected.append(try #require(item))
            }
            let inventory = try peerZone.inventory(db).items
            return (try inventory.items(in: 0..<inventory.count), expected.sorted())
        }
        #expect(items.count == 4 && Array(items) == expected)
    }

    // MARK: Answers

    /// A peer that sends less than it sent once has lost it.
    @Test func whoSendsAnOlderStateThanBeforeIsAnswered() async throws {
        try await apply([record("Author|~|1", ["name": .text("new")], at: later(10))])
        let before = try await current()
        try await apply([record("Author|~|1", ["name": .text("old")])])
        #expect(try await names(after: ReadingPlace(before)) == ["Author|~|1"])
    }

    /// What a reconciliation brings is what the peer holds, whatever it was sent.
    @Test func looseRecordsThatAreOlderAreAnswered() async throws {
        try await addAuthors(1...1)
        let before = try await current()
        try await apply([author(1)], isLoose: true)
        #expect(try await names(after: ReadingPlace(before)) == ["Author|~|1"])
    }

    /// In the stream it would come anyway.
    @Test func whatThePeerWasNotSentYetIsNoAnswer() async throws {
        try await addAuthors(1...1)
        let before = try await current()
        try await apply([author(1)])
        #expect(try await names(after: ReadingPlace(before)).isEmpty)
    }

    // MARK: Limits

    /// Two machines that know different fields of a record make one of more fields than a record may have.
    @Test func aRecordHasNoMoreFieldsThanItMay() async throws {
        let half = RecordState.maximumFieldCount / 2
        func state(_ numbers: Range<Int>) throws -> RecordState {
            RecordState(
                name: try RecordName("Magazine|~|1"),
                fields: numbers.map { RecordField(name: "f\($0)", value: .null, stamp: later(0)) })
        }
        try await apply([state(0..<half)])
        try await apply([state(half..<2 * half)])
        let store = machine.store
        let more = try state(2 * half..<2 * half + 1)
        let error = await #expect(throws: RecordStoreError.self) {
            try await store.database.write { _ = try store.merge($0, [more]) }
        }
        #expect(error?.code == .invalidRecord)
        #expect(try await machine.state("Magazine|~|1")?.fields.count == 2 * half)
    }

    @Test func aRecordIsNoLargerThanABatchMayBe() async throws {
        let large = try record("Author|~|1", ["name": .blob([UInt8](repeating: 1, count: 8 << 20))])
        let store = machine.store
        let error = await #expect(throws: RecordStoreError.self) {
            try await store.database.write { _ = try store.merge($0, [large]) }
        }
        #expect(error?.code == .invalidRecord)
        #expect(try machine.rows("SELECT * FROM Author").isEmpty)
    }
}
