import PeerSyncModel
import PeerSyncStore
import Testing

/// A record that a peer has refused is counted until the peer takes it, or has the same.
struct ResentRecordTests: PeerRecords {
    private let machine: Machine
    private let peerZone: PeerZone
    private let names: [RecordName]

    /// A machine whose peer has refused one of its authors because it may not write, and one because it has that elsewhere.
    init() async throws {
        machine = try Machine("a", number: 1)
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "peer")
        let peerZone = PeerZone(store: machine.store, peer: peer)
        let names = try ["Author|~|1", "Author|~|2"].map { try RecordName($0) }
        try await machine.store.write { db in
            for name in names {
                try db.execute(
                    sql: "INSERT INTO Author (recordName, name) VALUES (?, 'x')",
                    arguments: [name.description])
            }
        }
        try await machine.store.database.write { db in
            try peerZone.noteRefused(db, Refusal(names: [names[0]], reason: .readOnly), in: .start)
            try peerZone.noteRefused(db, Refusal(names: [names[1]], reason: .otherZone), in: .start)
        }
        (self.peerZone, self.names) = (peerZone, names)
    }

    private func summary() async throws -> ZoneSummary {
        try await machine.store.database.read { [peerZone] in try peerZone.summary($0) }
    }

    private func refused() async throws -> [RecordName] {
        try await machine.store.refusals.all().map(\.name)
    }

    @Test func whatIsRefusedIsCounted() async throws {
        #expect(try await summary().refused == 2)
        #expect(try await refused() == names)
        // Once, however often the peer says so.
        try await machine.store.database.write { [peerZone, names] db in
            try peerZone.noteRefused(db, Refusal(names: names, reason: .readOnly), in: .start)
        }
        #expect(try await summary().refused == 2)
    }

    /// Who may write now is heard; what is in another zone there stays refused.
    @Test func whatAReaderWroteIsSentAgainWhenItMayWrite() async throws {
        let before = try await summary()
        try await machine.store.database.write { [peerZone] in
            try peerZone.noteOwnRights($0, .write)
        }
        #expect(try await refused() == [names[1]])
        let batch = try await machine.store.database.read { [peerZone] in
            try peerZone.nextBatch($0, after: ReadingPlace(before.current), includingEcho: false).batch
        }
        #expect(batch.records.map(\.name) == [names[0]])
        #expect(try await summary().refused == 1)
    }

    /// A peer that sends the very same record has it.
    @Test func whatThePeerHasIsNotRefusedAnyMore() async throws {
        let own = try #require(try await machine.state("Author|~|1"))
        try await apply([[record("Author|~|1", ["born": .date(0)], at: later(-1000))]], to: machine)
        #expect(try await refused() == names)
        try await apply([[own]], to: machine)
        #expect(try await refused() == [names[1]])
    }

    /// What a peer has refused is nowhere else, so this machine keeps it when it takes the peer's scorebook over.
    @Test func whoStartsOverKeepsWhatWasRefused() async throws {
        let token = try await summary().current
        try await machine.store.write { db in
            try db.execute(sql: "INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'new')")
        }
        try await machine.store.database.write { [peerZone] in try peerZone.acknowledge($0, token) }
        try await machine.store.write { db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'y')")
        }
        let all = try await summary().current
        let zone = try await machine.store.zones.find(named: "ScorebookData")
        try await machine.store.database.write { [peerZone, store = machine.store] db in
            try peerZone.acknowledge(db, all)
            try store.exchange.startOver(db, with: peerZone.peer, in: [(zone, heldByPeer: all)])
        }
        #expect(try machine.rows("SELECT recordName FROM Author ORDER BY 1") == names.map(\.description))
        #expect(try machine.rows("SELECT * FROM Shelf").isEmpty)
    }
}
