import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What a store keeps of its sessions with peers.
struct PeerNoteTests {
    private let machine: Machine

    init() async throws {
        machine = try Machine("a", number: 1)
        for (number, name) in [(3, "kitchen"), (4, "study")] {
            _ = try await machine.store.peers.add(
                key: [UInt8](repeating: UInt8(number), count: 32), name: name)
        }
    }

    private func peer(_ name: String) async throws -> Peer {
        try #require(try await machine.store.peers.all().first { $0.name == name })
    }

    /// What went wrong is told until the two are in sync again.
    @Test func theLastErrorIsThatSinceTheLastSync() async throws {
        let store = machine.store
        try await store.peers.noteConnected(
            with: peer("kitchen"), error: "its clock is wrong", code: "clockSkew"
        ) { false }
        #expect(try await peer("kitchen").errorCode == "clockSkew")
        try await store.peers.noteConnected(with: peer("kitchen")) { false }
        #expect(try await peer("kitchen").errorCode == "clockSkew")
        #expect(try await peer("kitchen").lastError == "its clock is wrong")
        #expect(try await peer("study").lastError == nil)
        try await store.peers.noteConnected(with: peer("kitchen"), error: "its disk is full") { false }
        #expect(try await peer("kitchen").lastError == "its disk is full")
        #expect(try await peer("kitchen").errorCode == nil)
        try await store.peers.noteInSync(with: peer("study"))
        #expect(try await peer("kitchen").lastError == "its disk is full")
        try await store.peers.noteInSync(with: peer("kitchen"))
        #expect(try await peer("kitchen").lastError == nil)
        #expect(try await peer("kitchen").lastSync != nil)
    }

    private func zones() async throws -> [String] {
        try await machine.status().peerZones.map {
            "\($0.peer) \($0.zone) \($0.rights) \($0.pending) \($0.lastSync == nil ? "-" : "+")"
        }
    }

    @Test func eachZoneSaysWhatAMachineLacksAndMayDo() async throws {
        let (store, standard) = (machine.store, "\(ZoneName.standard)")
        let club = try await store.zones.create("club")
        try await store.zones.grant(.read, to: "kitchen", in: "club")
        try await store.zones.grant(.none, to: "study", in: standard)
        try machine.shell(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'a'), ('Author|~|2', 'b')")
        try await store.foldPendingChanges()
        try await store.database.write { db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'c')")
            _ = try store.fold(db, newIn: .one(club))
        }
        #expect(
            try await zones() == [
                "kitchen \(standard) write 2 -", "kitchen club read 1 -", "study \(standard) none 0 -",
                "study club none 0 -",
            ])
        #expect(try await machine.status().pendingByPeer == ["kitchen": 3, "study": 0])
        let zone = PeerZone(store: store, zone: .one(club), peer: try await peer("kitchen"))
        try await store.database.write { try zone.acknowledge($0, ChangeLog.current($0)) }
        try await store.peers.noteInSync(with: peer("kitchen"), in: .one(club))
        #expect(try await zones().prefix(2) == ["kitchen \(standard) write 2 -", "kitchen club read 0 +"])
        // Another pairing begins with nothing.
        try await store.peers.forget("kitchen")
        _ = try await store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "kitchen")
        #expect(try await zones().prefix(2) == ["kitchen \(standard) write 2 -", "kitchen club none 0 -"])
    }

    /// Stores of format 2 had no such columns at first. A view of the app that is broken keeps nobody from adding them.
    @Test func columnsThatCameLaterAreAdded() async throws {
        let database = machine.store.database
        try await database.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE grdb_sync_peer DROP COLUMN lastErrorCode;
                    ALTER TABLE grdb_sync_peerZone DROP COLUMN lastSync;
                    CREATE VIEW Broken AS SELECT * FROM Nowhere;
                    UPDATE grdb_sync_peer SET lastError = 'its disk is full';
                    """)
        }
        let store = try RecordStore(
            database, schema: machine.store.schema, replica: machine.store.replica)
        let peer = try #require(try await store.peers.all().first)
        #expect(peer.lastError == "its disk is full" && peer.errorCode == nil)
        try await store.peers.noteConnected(with: peer, error: "its clock is wrong", code: "clockSkew") {
            false
        }
        #expect(try await store.peers.all().map(\.errorCode) == ["clockSkew", nil])
        try await store.peers.noteInSync(with: peer)
        #expect(
            try await database.read { try store.status($0).peerZones.map { $0.lastSync != nil } } == [
                true, false,
            ])
    }

    /// Stores from before mailboxes told what is refused keep what sessions have told.
    @Test func whatIsNotedOfRefusalsIsAdded() async throws {
        let database = machine.store.database
        let peer = try await peer("kitchen")
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_refusedRecord (peer, zone, recordName, reason) VALUES (\(peer.id), 1, 'Item|~|1', 2);
                    ALTER TABLE grdb_sync_refusedRecord DROP COLUMN mailbox;
                    ALTER TABLE grdb_sync_mailboxAuthor DROP COLUMN furtherRefused;
                    ALTER TABLE grdb_sync_mailboxAuthor DROP COLUMN silentCounter;
                    DROP TABLE grdb_sync_ownRefusal;
                    """)
        }
        let store = try RecordStore(
            database, schema: machine.store.schema, replica: machine.store.replica)
        #expect(try await store.refusals.all().map(\.name.description) == ["Item|~|1"])
        try await database.write { db in
            #expect(
                try Row.fetchAll(db, sql: "SELECT furtherRefused, silentCounter FROM grdb_sync_mailboxAuthor")
                    .isEmpty)
            #expect(try OwnRefusals.all(db, peer: peer.id, zone: 1, limit: 1).named.isEmpty)
            let log = ZoneLog(store, try store.zones.all(db)[0])
            #expect(try log.takeRefusals(db, [], upTo: nil, by: peer, mailbox: 1).isEmpty)
        }
        #expect(try await store.refusals.all().count == 1)
    }

    /// Without a token, the store reads logs from their beginning anyway.
    @Test func whatWasComparedGoesWithTheToken() async throws {
        let peer = try await peer("kitchen")
        func compared(after change: @escaping @Sendable (Database) throws -> Void) async throws -> Int64 {
            try await machine.store.database.write { db in
                try PeerTable.noteCompared(
                    db, peer: peer.id, zone: 1, ChangeToken(generation: [1], sequence: 9))
                try change(db)
                return try PeerTable.progress(db, peer: peer.id, zone: 1).comparedSequence
            }
        }
        let later = ChangeToken(generation: [1], sequence: 12)
        #expect(try await compared { try PeerTable.setReceived($0, peer: peer.id, zone: 1, later) } == 9)
        #expect(try await compared { try PeerTable.startOver($0) } == 0)
        #expect(try await compared { try PeerTable.setReceived($0, peer: peer.id, zone: 1, .start) } == 0)
        #expect(try await compared { try PeerTable.setReceived($0, peer: peer.id, zone: 1, nil) } == 0)
    }

    /// Nobody knows which tokens are those of comparisons in a store that did not note them.
    @Test func tokensFromBeforeComparisonsWereNotedCountAsCompared() async throws {
        let store = machine.store
        let peer = try await peer("kitchen")
        try await store.database.write { db in
            try PeerTable.setReceived(
                db, peer: peer.id, zone: 1, ChangeToken(generation: [1], sequence: 7))
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_mailbox (name, location, addedAt) VALUES ('shelf', 'nowhere', '');
                    INSERT INTO grdb_sync_mailboxReading VALUES (1, \(peer.id), 1, X'00', X'00', 3);
                    """)
        }
        func reopen() async throws -> (compared: Int64, readings: Int?) {
            let store = try RecordStore(store.database, schema: store.schema, replica: store.replica)
            return try await store.database.read { db in
                (
                    try PeerTable.progress(db, peer: peer.id, zone: 1).comparedSequence,
                    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM grdb_sync_mailboxReading")
                )
            }
        }
        #expect(try await reopen() == (0, 1))
        try await store.database.write {
            try $0.execute(sql: "ALTER TABLE grdb_sync_peerZone DROP COLUMN comparedSequence")
        }
        #expect(try await reopen() == (7, 0))
        try await store.database.write { try PeerTable.noteRead($0, peer: peer.id, zone: 1, upTo: 7) }
        #expect(try await reopen() == (0, 0))
    }

    /// Programs are started often. The numbers of those that are forgotten are the oldest.
    @Test func theLatestRunsAreRemembered() async throws {
        let runs = (1...1001).map { run in (0..<8).map { UInt8(truncatingIfNeeded: run >> ($0 * 8)) } }
        let covering = try await machine.store.database.write { db in
            for (index, run) in runs.enumerated() {
                try Generations.record(db, run, firstSequence: Int64(index + 1))
            }
            return try [1, 2, 1001].map { try Generations.covering(db, $0) }
        }
        #expect(covering == [ChangeToken.start.generation, runs[1], runs[1000]])
    }
}
