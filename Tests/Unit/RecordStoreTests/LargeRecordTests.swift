import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// A record that is too large for a store is refused alone: what comes with it is taken.
struct LargeRecordTests {
    private static let stamp = Stamp(time: HybridTime(milliseconds: 1_000), replica: ReplicaID(rawValue: 9))

    private let machine: Machine
    private let peerZone: PeerZone

    init() async throws {
        machine = try Machine("a", number: 1)
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 1, count: 32), name: "b")
        peerZone = PeerZone(store: machine.store, peer: peer)
    }

    private func author(_ suffix: String, _ fields: [String: Int]) throws -> RecordState {
        try RecordState(
            name: RecordName("Author|~|\(suffix)"),
            fields: fields.map { name, length in
                RecordField(
                    name: name, value: .blob([UInt8](repeating: 120, count: length)), stamp: Self.stamp)
            })
    }

    private func apply(_ states: [RecordState]) async throws -> [Refusal] {
        let token = ChangeToken(generation: [1, 2, 3, 4, 5, 6, 7, 8], sequence: 1)
        let batch = ChangeBatch(records: states, token: token, isLast: true)
        return try await machine.store.database.write { [peerZone] db in try peerZone.apply(db, batch) }
    }

    private func refusal(_ suffix: String) throws -> [Refusal] {
        [Refusal(names: [try RecordName("Author|~|\(suffix)")], reason: .tooLarge)]
    }

    @Test func aRecordAboveTheLimitIsRefusedAlone() async throws {
        // 400 bytes for the record, 24 for a field and its name, and 9 for a value beside its bytes.
        let room = (8 << 20) - 400 - 24 - 4 - 9
        let (fits, large) = try (author("fits", ["name": room]), author("large", ["name": room + 1]))
        let refusals = try await apply([author("1", ["name": 1]), large, fits, author("2", ["name": 1])])
        #expect(try refusals == refusal("large"))
        let names = try machine.rows("SELECT recordName FROM Author ORDER BY 1")
        #expect(names == ["Author|~|1", "Author|~|2", "Author|~|fits"])
    }

    /// Each state is small enough, and what they come to together is not sent, but kept.
    @Test func whatMergesToMoreThanTheLimitIsKeptAndNamed() async throws {
        #expect(try await apply([author("1", ["name": 7 << 20])]).isEmpty)
        #expect(try await apply([author("1", ["later": 7 << 20])]).isEmpty)
        let status = try await machine.status()
        #expect(status.unsynced.map(\.reason) == [.size])
        #expect(try await machine.store.database.read { try peerZone.summary($0) }.refused == 1)
        // A third one would make it as large as its sender likes.
        let refusals = try await apply([author("1", ["latest": 7 << 20]), author("2", ["name": 1])])
        #expect(try refusals == refusal("1"))
        #expect(try await machine.state("Author|~|1")?.fields.map(\.name) == ["later", "name"])
        #expect(try machine.rows("SELECT recordName FROM Author ORDER BY 1") == ["Author|~|1", "Author|~|2"])
    }

    @Test func moreFieldsThanARecordMayHaveAreRefusedWithIt() async throws {
        let fields = { (prefix: String) in
            Dictionary(uniqueKeysWithValues: (1...600).map { ("\(prefix)\($0)", 1) })
        }
        #expect(try await apply([author("1", fields("a"))]).isEmpty)
        let refusals = try await apply([author("1", fields("b")), author("2", ["name": 1])])
        #expect(try refusals == refusal("1"))
        #expect(try await machine.state("Author|~|1")?.fields.count == 600)
        #expect(try machine.rows("SELECT recordName FROM Author WHERE name IS NOT NULL") == ["Author|~|2"])
    }

    /// What a peer has said of a record holds for the state that it has seen.
    @Test func aRefusalEndsWhenTheRecordChanges() async throws {
        try machine.shell(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x'), ('Author|~|2', 'x')")
        _ = try await machine.status()
        let refused = [try RecordName("Author|~|1"), try RecordName("Author|~|2")]
        try await machine.store.database.write { [peerZone] db in
            try peerZone.noteRefused(db, Refusal(names: refused, reason: .tooLarge))
        }
        #expect(try await machine.store.refusals.all().map(\.reason) == [.tooLarge, .tooLarge])
        #expect(try await machine.store.database.read { try peerZone.summary($0) }.refused == 2)
        try machine.shell("UPDATE Author SET name = 'y' WHERE recordName = 'Author|~|1'")
        _ = try await machine.status()
        #expect(try await machine.store.refusals.all().map(\.name.description) == ["Author|~|2"])
        // Nobody else may have it, so it is not given up for what others have.
        let zone = try await machine.store.zones.find(named: "ScorebookData")
        let given = try await machine.store.database.write { [store = machine.store] db in
            try store.refusals.giveUp(db, in: zone)
        }
        #expect(given.isEmpty)
        #expect(try machine.rows("SELECT name FROM Author") == ["y", "x"])
    }

    @Test func anImportOfSuchARecordIsRefusedWhole() async throws {
        let states = try [author("1", ["name": 1]), author("2", ["name": 9 << 20])]
        let error = await #expect(throws: RecordStoreError.self) {
            _ = try await machine.store.database.write { [store = machine.store] db in
                try store.merge(db, states)
            }
        }
        #expect(error?.code == .invalidRecord)
        #expect(try machine.rows("SELECT * FROM Author").isEmpty)
    }
}
