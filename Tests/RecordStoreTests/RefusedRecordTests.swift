import RecordStore
import SyncModel
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
        try await owner.store.grant(.read, to: "reader", in: "ScorebookData")
        try reader.shell(sql)
        let peer = try #require(try await reader.store.peers().first)
        let ledger = PeerLedger(store: reader.store, peer: peer)
        let names = try [Self.author, Self.book].map { try RecordName($0) }
        try await reader.store.write { db in
            try ledger.noteRefused(db, Refusal(names: names, reason: .readOnly))
        }
        try await reader.send(to: owner)
        try await body(owner, reader)
    }

    private func restore(_ machine: Machine) async throws -> [String] {
        let zone = try await machine.store.zone(named: "ScorebookData")
        return try await machine.store.database.write { [store = machine.store] db in
            try store.restoreRefused(db, in: zone).map(\.description)
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
            #expect(try await reader.store.refusedRecords().isEmpty)
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
            #expect(try await reader.store.database.read { try reader.store.check($0) }.isSound)
            try await owner.send(to: reader)
            #expect(try reader.rows("SELECT book FROM Loan") == [Self.book])
            #expect(try await reader.status().held == 0)
            #expect(try await reader.store.database.read { try reader.store.check($0) }.isSound)
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
            { try await store.createZone(name) as Any },
            { try await store.renameZone("ScorebookData", to: name) },
        ] {
            let error = await #expect(throws: RecordStoreError.self) { _ = try await attempt() }
            #expect(error?.code == .invalidValue)
        }
        #expect(try await store.zones().map(\.name) == ["ScorebookData"])
    }
}
