import GRDB
import SyncModel
import Testing

@testable import RecordStore

/// What happens in one zone changes nothing in another, whoever may write there.
struct ZoneRuleTests {
    /// A machine with an author in the default zone, and a book of theirs in a zone of its own.
    private func withTwoZones(_ body: (Machine, Zone) async throws -> Void) async throws {
        let machine = try Machine("a", number: 1)
        let club = try await machine.store.createZone("club")
        try await machine.store.write { db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane')")
        }
        try await machine.write(
            "INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'club')", in: club)
        try await machine.write(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Emily');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Own', 'Author|~|2')
            """, in: club)
        // Moved to the author of the other zone later, by a program that knows nothing of zones.
        try machine.shell("UPDATE Book SET author = 'Author|~|1'")
        try await machine.store.foldPendingChanges()
        try await body(machine, club)
    }

    @Test func aDeletionDoesNotReachAnotherZone() async throws {
        try await withTwoZones { machine, club in
            let before = try await machine.zone("club").digest
            let peer = try await machine.store.addPeer(key: [UInt8](repeating: 7, count: 32), name: "peer")
            let ledger = PeerLedger(store: machine.store, peer: peer)
            let author = try #require(try await machine.state("Author|~|1"))
            var deleted = author
            deleted.deletion = Stamp(
                time: HybridTime(milliseconds: machine.store.now()), replica: ReplicaID(rawValue: 9))
            let batch = ChangeBatch(records: [deleted.transferred], token: .start, isLast: true)
            _ = try await machine.store.database.write { try ledger.apply($0, batch) }
            #expect(try await machine.state("Author|~|1")?.isDeleted == true)
            // The book is as it was, and waits.
            #expect(try await machine.state("Book|~|1")?.isLive == true)
            #expect(try await machine.zone("club").digest == before)
            #expect(try await machine.status().held == 1)
        }
    }

    @Test func erasingAZoneHoldsWhatRefersToItFromAnother() async throws {
        try await withTwoZones { machine, club in
            let before = try await machine.zone("club").digest
            let zone = try await machine.zone("ScorebookData")
            _ = try await machine.store.database.write { [store = machine.store] in try store.erase($0, zone)
            }
            #expect(try await machine.state("Author|~|1") == nil)
            #expect(try await machine.state("Book|~|1")?.isLive == true)
            #expect(try await machine.zone("club").digest == before)
            let check = try await machine.store.database.read { [store = machine.store] in try store.check($0)
            }
            #expect(check.isSound)
            #expect(try machine.rows("SELECT recordName FROM heldReference") == ["Book|~|1"])
        }
    }

    /// The stream of one zone may end while that of another is under way.
    @Test func theEndOfAStreamSettlesItsOwnZoneAlone() async throws {
        let machine = try Machine("a", number: 1)
        let club = try await machine.store.createZone("club")
        let peer = try await machine.store.addPeer(key: [UInt8](repeating: 7, count: 32), name: "peer")
        try await machine.store.grant(.write, to: "peer", in: "club")
        func stamp(_ time: Int64) -> Stamp {
            Stamp(time: HybridTime(milliseconds: time), replica: ReplicaID(rawValue: 9))
        }
        func author(_ name: String, deletion: Stamp? = nil) throws -> RecordState {
            RecordState(
                name: try RecordName(name),
                fields: [RecordField(name: "name", value: .text(name), stamp: stamp(1))], deletion: deletion)
        }
        func book(by author: String, _ time: Int64) throws -> RecordState {
            RecordState(
                name: try RecordName("Book|~|1"),
                fields: [
                    RecordField(name: "title", value: .text("Emma"), stamp: stamp(2)),
                    RecordField(
                        name: "author", value: .reference(try RecordName(author)), stamp: stamp(time)),
                ])
        }
        let inClub = PeerLedger(store: machine.store, zone: club, peer: peer)
        let inDefault = PeerLedger(store: machine.store, peer: peer)
        func apply(_ ledger: PeerLedger, _ records: [RecordState], isLast: Bool) async throws {
            let batch = ChangeBatch(
                records: records, token: ChangeToken(generation: [1], sequence: 1), isLast: isLast)
            _ = try await machine.store.database.write { try ledger.apply($0, batch) }
        }
        try await apply(
            inClub, [author("Author|~|1"), author("Author|~|2"), book(by: "Author|~|1", 2)], isLast: true)
        // The first author is deleted; that the book has gone to the second comes later.
        try await apply(inClub, [author("Author|~|1", deletion: stamp(10))], isLast: false)
        try await apply(inDefault, [author("Author|~|3")], isLast: true)
        #expect(try await machine.state("Book|~|1")?.isDeleted == false)
        try await apply(inClub, [book(by: "Author|~|2", 5)], isLast: true)
        #expect(try await machine.state("Book|~|1")?.isDeleted == false)
        #expect(try machine.rows("SELECT author FROM Book") == ["Author|~|2"])
        #expect(try machine.rows("SELECT * FROM unsettledRecord") == [])
    }

    @Test func aPeerCannotRefuseWhatItWasNotSent() async throws {
        try await withTwoZones { machine, club in
            let peer = try await machine.store.addPeer(key: [UInt8](repeating: 7, count: 32), name: "peer")
            let ledger = PeerLedger(store: machine.store, zone: club, peer: peer)
            let names = try ["Author|~|1", "Author|~|none", "Shelf|~|1"].map { try RecordName($0) }
            try await machine.store.database.write { db in
                try ledger.noteRefused(db, Refusal(names: names, reason: .readOnly))
            }
            #expect(try await machine.store.refusedRecords().map(\.name.description) == ["Shelf|~|1"])
        }
    }

    @Test func longNamesStayNames() async throws {
        let machine = try Machine("a", number: 1)
        let peer = try await machine.store.addPeer(key: [UInt8](repeating: 7, count: 32), name: "peer")
        let name = String(repeating: "x", count: ZoneName.maximumLength)
        for owner in 1...3 {
            let id = ZoneID(name: try #require(ZoneName(name)), owner: ReplicaID(rawValue: UInt64(owner)))
            _ = try await machine.store.database.write { [store = machine.store] in
                try store.takeUpZone($0, id, called: name, from: peer)
            }
        }
        let names = try await machine.store.zones().map(\.name)
        #expect(Set(names).count == 4)
        #expect(names.allSatisfy { ZoneName($0) != nil })
    }
}

extension Machine {
    fileprivate func write(_ sql: String, in zone: Zone) async throws {
        try await store.database.write { [store] db in
            try db.execute(sql: sql)
            _ = try store.fold(db, newIn: zone)
        }
    }

    fileprivate func zone(_ name: String) async throws -> Zone {
        try await store.foldPendingChanges()
        return try await store.zone(named: name)
    }
}
