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

    /// Peers can make a record that has as many fields as can be. When somebody writes one more here, the record stays here.
    @Test func aRecordWithTooManyFieldsStaysAndIsNamed() async throws {
        let junk = Dictionary(
            uniqueKeysWithValues: (1..<RecordState.maximumFieldCount).map { ("junk\($0)", 0) })
        let full = try author("1", junk.merging(["name": 1]) { $1 })
        #expect(try await apply([full, author("2", ["name": 1])]).isEmpty)
        #expect(try await machine.status().unsynced.isEmpty)
        try machine.shell("UPDATE Author SET born = '2000-01-01T00:00:00.000Z'")
        #expect(try await machine.status().unsynced.map { "\($0.name) \($0.reason)" } == ["Author|~|1 size"])
        let other = try Machine("c", number: 3)
        #expect(try await machine.send(to: other) == 1)
        #expect(try other.rows("SELECT recordName FROM Author") == ["Author|~|2"])
    }

    /// Each field may have been written by a replica of its own, and each reference may lead to a type of its own. A batch has room
    /// for 65,536 of both, whatever a group has.
    @Test(
        arguments: [false, true],
        [
            BatchLimit.standard,
            BatchLimit(records: 9_999, bytes: 1 << 30, groupRecords: 9_999, groupBytes: 1 << 30),
        ])
    func aBatchHasRoomForItsTables(ofTypes: Bool, limit: BatchLimit) async throws {
        let records = 70
        for part in [0..<37, 37..<records] {
            let states = try part.map { record in
                let fields = try (0..<1_000).map { index in
                    let number = record * 1_000 + index
                    let target = FieldValue.reference(try RecordName("T\(number)|~|x"))
                    let replica = ReplicaID(rawValue: ofTypes ? 9 : UInt64(10 + number))
                    return RecordField(
                        name: "f\(index)", value: ofTypes ? target : .null,
                        stamp: Stamp(time: HybridTime(milliseconds: 1_000), replica: replica))
                }
                return RecordState(name: try RecordName("Unknown|~|\(record)"), fields: fields)
            }
            #expect(try await apply(states).isEmpty)
        }
        let other = PeerZone(
            store: machine.store,
            peer: try await machine.store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "c"))
        var place = ReadingPlace(
            try await machine.store.database.read { try other.begin($0, heldByPeer: nil).start })
        var (count, batches, isLast) = (0, 0, false)
        while !isLast {
            let (batch, next) = try await machine.store.database.read { [place] in
                try other.nextBatch($0, after: place, includingEcho: false, limit: limit)
            }
            let fields = batch.records.flatMap(\.fields)
            #expect(Set(fields.map(\.stamp.replica)).count <= 65_536)
            let types = fields.compactMap {
                if case .reference(let name) = $0.value { name.recordType } else { nil }
            }
            #expect(Set(types).count < 65_536)
            (place, isLast) = (next, batch.isLast)
            count += batch.records.count
            batches += 1
        }
        #expect(count == records && batches > 1)
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
        try await writeTwoAuthors()
        try await noteRefused(.tooLarge, in: summary().current)
        #expect(try await machine.store.refusals.all().map(\.reason) == [.tooLarge, .tooLarge])
        #expect(try await summary().refused == 2)
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

    /// It was written after the peer was sent what it refuses, so it is sent next: the peer may take that, and says nothing then.
    @Test func aRefusalOfAFormerStateIsNotKept() async throws {
        try await writeTwoAuthors()
        let sent = try await summary().current
        try machine.shell("UPDATE Author SET name = 'y' WHERE recordName = 'Author|~|1'")
        _ = try await machine.status()
        try await noteRefused(.tooLarge, in: sent)
        #expect(try await machine.store.refusals.all().map(\.name.description) == ["Author|~|2"])
        #expect(try await summary().refused == 1)
        // Whatever the state, a record is in another zone there.
        try await noteRefused(.otherZone, in: sent)
        #expect(try await machine.store.refusals.all().map(\.reason) == [.otherZone, .otherZone])
    }

    private func writeTwoAuthors() async throws {
        try machine.shell(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x'), ('Author|~|2', 'x')")
        _ = try await machine.status()
    }

    private func summary() async throws -> ZoneSummary {
        try await machine.store.database.read { [peerZone] in try peerZone.summary($0) }
    }

    /// The peer says that it has not taken the two authors.
    private func noteRefused(_ reason: Refusal.Reason, in batch: ChangeToken) async throws {
        let names = [try RecordName("Author|~|1"), try RecordName("Author|~|2")]
        try await machine.store.database.write { [peerZone] db in
            try peerZone.noteRefused(db, Refusal(names: names, reason: reason), in: batch)
        }
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
