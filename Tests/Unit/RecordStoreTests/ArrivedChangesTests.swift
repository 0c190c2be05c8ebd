import PeerSyncModel
import PeerSyncStore
import Testing

/// A store tells what the records of a peer changed in its tables, as a reader of the tables sees it.
struct ArrivedChangesTests {
    private static let author = "Author|~|jane"
    private static let book = "Book|~|emma"

    /// Sends everything that is new, as one batch.
    private func changes(from: Machine, to other: Machine) async throws -> ArrivedChanges {
        let ours = PeerZone(
            store: from.store, peer: try await from.store.peers.add(key: other.key, name: other.name))
        let theirs = PeerZone(
            store: other.store, peer: try await other.store.peers.add(key: from.key, name: from.name))
        try await from.store.foldPendingChanges()
        let held = try await other.store.database.read { try theirs.summary($0).received }
        let start = try await from.store.database.read { try ours.begin($0, heldByPeer: held).start }
        let batch = try await from.store.database.read {
            try ours.nextBatch($0, after: ReadingPlace(start), includingEcho: false).batch
        }
        return try await other.store.database.write { db in
            try ApplyingTransaction.run(db) { transaction in
                _ = try theirs.apply(batch, in: transaction)
                return transaction.arrived
            }
        }
    }

    private func text(_ changes: ArrivedChanges) -> [String] {
        changes.records.map { "\($0.name) \($0.kind)" + $0.fields.map { " \($0)" }.joined() }
    }

    @Test func itTellsWhatAReaderSees() async throws {
        let (owner, reader) = (try Machine("owner", number: 1), try Machine("reader", number: 2))
        try owner.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('\(Self.author)', 'Jane');
            INSERT INTO Book (recordName, title, author) VALUES ('\(Self.book)', 'Emma', '\(Self.author)');
            """)
        for (sql, expected) in [
            (nil, ["\(Self.author) added", "\(Self.book) added"]),
            ("UPDATE Book SET title = 'Persuasion', pages = 300", ["\(Self.book) changed pages title"]),
            // The same values, written once more.
            ("UPDATE Book SET title = 'Emma'; UPDATE Book SET title = 'Persuasion'", []),
            ("DELETE FROM Book", ["\(Self.book) removed"]),
        ] as [(String?, [String])] {
            if let sql { try owner.shell(sql) }
            let changes = try await changes(from: owner, to: reader)
            #expect(text(changes) == expected, "\(sql ?? "")")
            #expect(changes.isComplete && changes.count == expected.count)
        }
    }

    /// A record that waits for what it needs is not there yet.
    @Test func aHeldRecordCountsWhenItIsShown() async throws {
        let (owner, reader) = (try Machine("owner", number: 1), try Machine("reader", number: 2))
        try owner.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('\(Self.author)', 'Jane');
            INSERT INTO Book (recordName, title, author) VALUES ('\(Self.book)', 'Emma', '\(Self.author)');
            """)
        try await owner.store.foldPendingChanges()
        let states = try await owner.store.database.read { [store = owner.store] db in
            try [Self.book, Self.author].compactMap { try store.state(db, of: RecordName($0)) }
        }
        let peerZone = PeerZone(
            store: reader.store, peer: try await reader.store.peers.add(key: owner.key, name: owner.name))
        for (number, expected) in [[], ["\(Self.author) added", "\(Self.book) added"]].enumerated() {
            let batch = ChangeBatch(records: [states[number]], token: .start, isLast: false, isLoose: true)
            let changes = try await reader.store.database.write { db in
                try ApplyingTransaction.run(db) { transaction in
                    _ = try peerZone.apply(batch, in: transaction)
                    return transaction.arrived
                }
            }
            #expect(text(changes).sorted() == expected)
        }
    }

    @Test func itCountsEachTypeApart() async throws {
        let (owner, reader) = (try Machine("owner", number: 1), try Machine("reader", number: 2))
        try owner.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane');
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
            INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Ann'), ('Author|~|3', 'Mary');
            """)
        let arrived = try await changes(from: owner, to: reader)
        #expect(arrived.counts == ["Author": [.added: 3], "Shelf": [.added: 1]])
        #expect(arrived.count == 4 && arrived.isComplete)
    }

    @Test func itNamesTheFirstAndCountsAll() async throws {
        let (owner, reader) = (try Machine("owner", number: 1), try Machine("reader", number: 2))
        let count = ArrivedChanges.maximumListed + 20
        let rows = (0..<count).map { "('Author|~|\($0)', 'Jane')" }.joined(separator: ", ")
        try owner.shell("INSERT INTO Author (recordName, name) VALUES \(rows)")
        let first = try await changes(from: owner, to: reader)
        #expect(first.records.count == ArrivedChanges.maximumListed && !first.isComplete)
        #expect(first.counts == ["Author": [.added: count]])
        try owner.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'")
        var all = first
        all.append(try await changes(from: owner, to: reader))
        #expect(all.count == count + 1 && all.records.count == ArrivedChanges.maximumListed)
        #expect(all.counts == ["Author": [.added: count, .removed: 1]])
    }
}
