import PeerSyncModel
import PeerSyncStore
import Testing

/// What becomes of records that a peer has refused.
struct RefusedRecordTests {
    private static let author = "Author|~|jane"
    private static let book = "Book|~|emma"

    /// Runs a test with two machines that hold an author and her book; what the reader has written to the author since
    /// then was refused by the owner.
    private func withRefusal(_ sql: String, _ body: (Machine, Machine) async throws -> Void) async throws {
        let owner = try Machine("owner", number: 1)
        let reader = try Machine("reader", number: 2)
        try owner.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('\(Self.author)', 'Jane');
            INSERT INTO Book (recordName, title, author) VALUES ('\(Self.book)', 'Emma', '\(Self.author)');
            """)
        try await owner.sync(with: reader)
        try await owner.store.zones.grant(.read, to: "reader", in: "ScorebookData")
        try reader.shell(sql)
        try await refuse([Self.author, Self.book], of: reader)
        try await reader.send(to: owner)
        try await body(owner, reader)
    }

    /// The other machine does not take what this one has of some records.
    private func refuse(_ names: [String], of machine: Machine) async throws {
        let peer = try #require(try await machine.store.peers.all().first)
        let peerZone = PeerZone(store: machine.store, peer: peer)
        let names = try names.map { try RecordName($0) }
        try await machine.store.write { db in
            try peerZone.noteRefused(db, Refusal(names: names, reason: .readOnly), in: .start)
        }
    }

    private func restore(_ machine: Machine) async throws -> [String] {
        let zone = try await machine.store.zones.find(named: "ScorebookData")
        return try await machine.store.database.write { [store = machine.store] db in
            try store.refusals.giveUp(db, in: zone).map(\.description)
        }
    }

    /// Although it acknowledges what came with them.
    @Test func whoHasRefusedARecordStillLacksIt() async throws {
        try await withRefusal("UPDATE Author SET name = 'Jan'") { owner, reader in
            func isPending(_ name: String) async throws -> Bool {
                try await reader.store.database.read { [listing = reader.store.listing] in
                    try listing.isPending($0, RecordName(name))
                }
            }
            #expect(try await isPending(Self.author))
            _ = try await restore(reader)
            try await owner.send(to: reader)
            #expect(try await !isPending(Self.author))
        }
    }

    @Test(arguments: [
        "UPDATE Author SET name = 'Jan' WHERE recordName = 'Author|~|jane'",
        "DELETE FROM Book; DELETE FROM Author",
        "UPDATE Book SET title = 'Persuasion'; DELETE FROM Author",
        "UPDATE Book SET pages = 1; INSERT INTO Book (recordName, author) VALUES ('Book|~|new', 'Author|~|jane')",
    ])
    func whatIsGivenUpComesBackAsTheOthersHaveIt(sql: String) async throws {
        try await withRefusal(sql) { owner, reader in
            #expect(try await restore(reader) == [Self.author, Self.book])
            #expect(try await reader.store.refusals.all().isEmpty)
            try await owner.send(to: reader)
            for query in ["SELECT name FROM Author", "SELECT title, pages FROM Book WHERE title IS NOT NULL"]
            {
                #expect(try reader.rows(query) == owner.rows(query))
            }
        }
    }

    /// What refers to a record that is given up is no part of what was refused.
    @Test func whatRefersToItWaitsForIt() async throws {
        try await withRefusal("INSERT INTO Loan (recordName, book) VALUES ('Loan|~|1', 'Book|~|emma')") {
            owner, reader in
            _ = try await restore(reader)
            #expect(try reader.rows("SELECT * FROM Loan").isEmpty)
            let status = try await reader.status()
            #expect(status.held == 1)
            #expect(try await reader.store.database.read { try reader.store.upkeep.check($0) }.isSound)
            try await owner.send(to: reader)
            #expect(try reader.rows("SELECT book FROM Loan") == [Self.book])
            #expect(try await reader.status().held == 0)
            #expect(try await reader.store.database.read { try reader.store.upkeep.check($0) }.isSound)
        }
    }

    /// A book can do without its shelf.
    @Test func whatCanDoWithoutItIsShownWithoutIt() async throws {
        let owner = try Machine("owner", number: 1)
        let reader = try Machine("reader", number: 2)
        try owner.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('\(Self.author)', 'Jane');
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
            INSERT INTO Book (recordName, title, author, shelf)
                VALUES ('\(Self.book)', 'Emma', '\(Self.author)', 'Shelf|~|1');
            """)
        try await owner.sync(with: reader)
        try reader.shell("UPDATE Shelf SET label = 'low'")
        try await refuse(["Shelf|~|1"], of: reader)
        #expect(try await restore(reader) == ["Shelf|~|1"])
        #expect(try reader.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
        #expect(try await reader.status().held == 0)
        #expect(try await reader.store.database.read { try reader.store.upkeep.check($0) }.isSound)
        try await owner.send(to: reader)
        #expect(try reader.rows("SELECT shelf, label FROM Book, Shelf") == ["Shelf|~|1|top"])
        #expect(try await owner.digest() == reader.digest())
    }

    /// Nothing hides the book any more when the deletion of its author is given up.
    @Test func whatWentWithItWaitsForIt() async throws {
        try await withRefusal("UPDATE Author SET name = 'Jan'") { owner, reader in
            _ = try await restore(reader)
            try await owner.send(to: reader)
            try reader.shell("DELETE FROM Author")
            try await refuse([Self.author], of: reader)
            #expect(try await reader.status().hidden == 1)
            #expect(try await restore(reader) == [Self.author])
            let status = try await reader.status()
            #expect(status.hidden == 0 && status.held == 1)
            try await owner.send(to: reader)
            #expect(try reader.rows("SELECT title, name FROM Book, Author") == ["Emma|Jane"])
        }
    }

    @Test func nothingIsGivenUpWhereNothingWasRefused() async throws {
        let machine = try Machine("alone", number: 1)
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|jane', 'Jane')")
        let before = try await machine.digest()
        #expect(try await restore(machine).isEmpty)
        #expect(try await machine.digest() == before)
    }

    @Test(arguments: ["", " ", " club", "club ", "klüb", "a\nb", String(repeating: "x", count: 256)])
    func whatCannotNameAZoneIsRefused(name: String) async throws {
        let store = try Machine("alone", number: 1).store
        for attempt in [
            { try await store.zones.create(name) as Any },
            { try await store.zones.rename("ScorebookData", to: name) },
        ] {
            let error = await #expect(throws: RecordStoreError.self) { _ = try await attempt() }
            #expect(error?.code == .invalidValue)
        }
        #expect(try await store.zones.all().map(\.name) == ["ScorebookData"])
    }
}
