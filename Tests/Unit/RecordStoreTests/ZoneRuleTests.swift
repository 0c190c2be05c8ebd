import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What happens in one zone changes nothing in another, whoever may write there.
struct ZoneRuleTests {
    /// A machine with an author in the default zone, and a book of theirs in a zone of its own.
    private func withTwoZones(_ body: (Machine, Zone) async throws -> Void) async throws {
        let machine = try Machine("a", number: 1)
        let club = try await machine.store.zones.create("club")
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

    /// SQLite has taken the book's row along. But nothing in the other zone says why the book is gone.
    @Test func aRowThatGoesWithOneOfAnotherZoneIsDeleted() async throws {
        try await withTwoZones { machine, _ in
            try machine.shell("PRAGMA foreign_keys = ON; DELETE FROM Author WHERE recordName = 'Author|~|1'")
            try await machine.store.foldPendingChanges()
            #expect(try await machine.state("Author|~|1")?.isDeleted == true)
            #expect(try await machine.state("Book|~|1")?.isDeleted == true)
        }
    }

    /// A program that knows nothing of zones inserts a row: it goes where the record is that it refers to.
    @Test func aNewRowGoesToTheZoneOfItsTarget() async throws {
        try await withTwoZones { machine, _ in
            let before = try await machine.zone("club").digest.count
            try machine.shell(
                """
                INSERT INTO Book (recordName, title, author) VALUES ('Book|~|2', 'Other', 'Author|~|2');
                INSERT INTO Book (recordName, title, author) VALUES ('Book|~|3', 'Third', 'Author|~|1')
                """)
            #expect(try await machine.zone("club").digest.count == before + 1)
        }
    }

    @Test func aDeletionDoesNotReachAnotherZone() async throws {
        try await withTwoZones { machine, club in
            let before = try await machine.zone("club").digest
            let peer = try await machine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "peer")
            let peerZone = PeerZone(store: machine.store, peer: peer)
            let author = try #require(try await machine.state("Author|~|1"))
            var deleted = author
            deleted.deletion = Stamp(
                time: HybridTime(milliseconds: machine.store.now()), replica: ReplicaID(rawValue: 9))
            let batch = ChangeBatch(records: [deleted.transferred], token: .start, isLast: true)
            _ = try await machine.store.database.write { try peerZone.apply($0, batch) }
            #expect(try await machine.state("Author|~|1")?.isDeleted == true)
            // The book is as it was, and waits.
            #expect(try await machine.state("Book|~|1")?.isLive == true)
            #expect(try await machine.zone("club").digest == before)
            #expect(try await machine.status().held == 1)
        }
    }

    @Test func aDeletionForEverDoesNotReachAnotherZone() async throws {
        try await withTwoZones { machine, _ in
            let (book, before) = (try await machine.state("Book|~|1"), try await machine.zone("club").digest)
            let author = try RecordName("Author|~|1")
            let names = try await machine.store.write { [store = machine.store] db in
                try store.deleteForever(db, author)
            }
            #expect(names == [author])
            #expect(try await machine.state("Author|~|1")?.isErased == true)
            #expect(try await machine.state("Book|~|1") == book)
            #expect(try await machine.zone("club").digest == before)
        }
    }

    @Test func erasingAZoneHoldsWhatRefersToItFromAnother() async throws {
        try await withTwoZones { machine, club in
            let before = try await machine.zone("club").digest
            let zone = try await machine.zone("ScorebookData")
            _ = try await machine.store.database.write { [store = machine.store] in
                try store.zones.erase($0, zone)
            }
            #expect(try await machine.state("Author|~|1") == nil)
            #expect(try await machine.state("Book|~|1")?.isLive == true)
            #expect(try await machine.zone("club").digest == before)
            let check = try await machine.store.database.read { [store = machine.store] in
                try store.upkeep.check($0)
            }
            #expect(check.isSound)
            #expect(try machine.rows("SELECT recordName FROM grdb_sync_heldReference") == ["Book|~|1"])
        }
    }

    /// A book can do without its shelf, also when that is in a zone that is given up or taken over anew.
    @Test(arguments: [true, false])
    func aReferenceByNullifyToWhatIsForgottenIsEmpty(isErased: Bool) async throws {
        try await withTwoZones { machine, _ in
            try machine.shell(
                """
                INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|2', 'home');
                UPDATE Book SET author = 'Author|~|2', shelf = 'Shelf|~|2';
                """)
            let (book, before) = (try await machine.state("Book|~|1"), try await machine.zone("club").digest)
            let home = try await machine.zone("ScorebookData")
            let peer = try await machine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "peer")
            let peerZone = PeerZone(store: machine.store, peer: peer)
            try await machine.store.database.write { [store = machine.store] db in
                if isErased {
                    try store.zones.erase(db, home)
                } else {
                    let current = try peerZone.summary(db).current
                    try store.exchange.startOver(db, with: peer, in: [(home, heldByPeer: current)])
                }
            }
            #expect(try machine.rows("SELECT recordName FROM Shelf") == ["Shelf|~|1"])
            #expect(try machine.rows("SELECT title, shelf FROM Book") == ["Own|-"])
            #expect(try await machine.state("Book|~|1") == book)
            #expect(try await machine.zone("club").digest == before)
            #expect(try await machine.zone("ScorebookData").digest == ZoneDigest())
            #expect(try await machine.status().held == 0)
            let check = try await machine.store.database.read { [store = machine.store] in
                try store.upkeep.check($0)
            }
            #expect(check.isSound)
            // What comes in its place is found from there.
            try machine.shell("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|2', 'new')")
            try await machine.store.foldPendingChanges()
            #expect(try machine.rows("SELECT shelf FROM Book") == ["Shelf|~|2"])
        }
    }

    @Test func aPeerCannotRefuseWhatItWasNotSent() async throws {
        try await withTwoZones { machine, club in
            let peer = try await machine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "peer")
            let peerZone = PeerZone(store: machine.store, zone: .one(club), peer: peer)
            let names = try ["Author|~|1", "Author|~|none", "Shelf|~|1"].map { try RecordName($0) }
            try await machine.store.database.write { db in
                try peerZone.noteRefused(db, Refusal(names: names, reason: .readOnly), in: .start)
            }
            #expect(try await machine.store.refusals.all().map(\.name.description) == ["Shelf|~|1"])
        }
    }

    @Test func longNamesStayNames() async throws {
        let machine = try Machine("a", number: 1)
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "peer")
        let name = String(repeating: "x", count: ZoneName.maximumLength)
        for owner in 1...3 {
            let id = ZoneID(name: try #require(ZoneName(name)), owner: ReplicaID(rawValue: UInt64(owner)))
            _ = try await machine.store.database.write { [store = machine.store] in
                try store.zones.takeUp($0, id, called: name, from: peer)
            }
        }
        let names = try await machine.store.zones.all().map(\.name)
        #expect(Set(names).count == 4)
        #expect(names.allSatisfy { ZoneName($0) != nil })
    }

    // MARK: Zones that are gone, and those of other stores

    @Test(arguments: [true, false])
    func whatIsNoZoneHereTakesAndGivesNothing(isOfAnotherStore: Bool) async throws {
        try await withTwoZones { machine, club in
            var gone = club
            if isOfAnotherStore {
                // It is in the same row there.
                gone = try await Machine("b", number: 2).store.zones.create("club")
                #expect(gone.row == club.row && gone != club)
            } else {
                gone = try await machine.store.zones.create("gone")
                try await machine.store.zones.delete("gone")
            }
            let state = RecordState(name: try RecordName("Author|~|new"), fields: [])
            let store = machine.store
            let attempts: [@Sendable (Database, Zone) throws -> Void] = [
                { db, zone in
                    try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'N')")
                    _ = try store.fold(db, newIn: .one(zone))
                },
                { _ = try store.merge($0, [state], zone: .one($1)) },
                { _ = try store.writeAnew($0, [state], zone: .one($1)) },
                { _ = try store.zones.current($0, .one($1)) },
                { _ = try store.zones.all($0, in: .one($1)) },
                { _ = try store.zones.machinesSharing($0, $1) },
                { _ = try store.zones.machinesRefusingWrites($0, in: $1) },
                { _ = try store.refusals.giveUp($0, in: $1) },
                { try store.listing.forEachLiveState($0, zone: .one($1)) { _ in } },
                { _ = try store.listing.names($0, in: .one($1)) },
                { _ = try store.listing.held($0, in: .one($1)) },
                { _ = try store.listing.deleted($0, in: .one($1)) },
                { _ = try store.listing.outOfSight($0, of: "Author", in: .one($1)) },
            ]
            for attempt in attempts {
                let error = await #expect(throws: RecordStoreError.self) {
                    try await store.database.write { [gone] db in try attempt(db, gone) }
                }
                #expect(error?.code == .noSuchZone)
            }
        }
    }

    /// Two stores that meet may give it another identity, while a program goes on with it.
    @Test func theDefaultZoneIsThatOfTheStore() async throws {
        let machine = try Machine("a", number: 1)
        let zone = try #require(try await machine.store.zones.all().first)
        let id = ZoneID(name: .standard, owner: ReplicaID(rawValue: 7))
        try await machine.store.database.write { [store = machine.store] in try store.zones.adopt($0, id) }
        try await machine.write("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A')", in: zone)
        #expect(try await machine.store.zones.all().map(\.digest.count) == [1])
    }

    @Test func aZoneHasOneIDWhateverIsInIt() async throws {
        try await withTwoZones { machine, club in
            let store = machine.store
            let status: () async throws -> StoreStatus = {
                try await store.database.read { try store.status($0) }
            }
            let before = try await status()
            try await machine.write(
                "INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'Anne')", in: club)
            let now = try await machine.zone("club")
            #expect(now != club && now.id == club.id)
            #expect(try await status() != before)
            let named = try await status()
            try await store.zones.rename("club", to: "friends")
            #expect(try await status() != named)
        }
    }
}

extension Machine {
    fileprivate func write(_ sql: String, in zone: Zone) async throws {
        try await store.database.write { [store] db in
            try db.execute(sql: sql)
            _ = try store.fold(db, newIn: .one(zone))
        }
    }

    fileprivate func zone(_ name: String) async throws -> Zone {
        try await store.foldPendingChanges()
        return try await store.zones.find(named: name)
    }
}
