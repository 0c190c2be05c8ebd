import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// Deletions are forgotten when everybody knows them and some time has passed; who comes later starts over.
struct TombstoneTests {
    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine

    /// Two machines, equal, with two authors; the clock of `a` then goes on by a second.
    init() async throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: clock)
        try a.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen'), ('Author|~|2', 'Brontë');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Emma', 'Author|~|1');
            """)
        try await a.sync(with: b)
        clock.milliseconds += 1000
    }

    private func purge(_ machine: Machine, retention: Int64) async throws -> Int {
        let store = machine.store
        return try await store.database.write { try store.upkeep.purge($0, retention: retention) }
    }

    private func peerZone(of machine: Machine, for other: Machine) async throws -> PeerZone {
        let peer = try await machine.store.peers.add(key: other.key, name: other.name)
        return PeerZone(store: machine.store, peer: peer)
    }

    /// Whether `machine` lets `other` go on from what it holds.
    private func isWelcome(_ other: Machine, at machine: Machine) async throws -> Bool {
        let ours = try await peerZone(of: machine, for: other)
        let theirs = try await peerZone(of: other, for: machine)
        let held = try await other.store.database.read { try theirs.summary($0).received }
        do {
            _ = try await machine.store.database.read { try ours.begin($0, heldByPeer: held) }
            return true
        } catch let error as RecordStoreError where error.code == .changeTokenExpired {
            // By these words `Hint.naming` of the program knows which of the two has to start over.
            #expect(error.message.hasPrefix("“\(other.name)” was away"))
            return false
        }
    }

    /// As a session does, which has heard in the other's open what the other holds.
    private func startOver(_ machine: Machine, with other: Machine) async throws -> Int {
        let (ours, theirs) = (
            try await peerZone(of: machine, for: other), try await peerZone(of: other, for: machine)
        )
        let held = try await other.store.database.read { try theirs.summary($0).received }
        return try await machine.store.database.write { db in
            try ours.store.exchange.startOver(
                db, with: ours.peer, in: [(ours.store.zones.current(db, .default), heldByPeer: held)])
        }
    }

    @Test func aDeletionIsKeptUntilEveryPeerKnowsIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        _ = try await a.status()
        #expect(try await purge(a, retention: 0) == 0)
        try await a.sync(with: b)
        #expect(try await purge(a, retention: 0) == 1)
        #expect(try await purge(b, retention: 0) == 1)
        #expect(try await a.status().tombstones == 0)
        #expect(try await a.digest() == b.digest())
        #expect(try await a.send(to: b) + b.send(to: a) == 0)
    }

    @Test func aDeletionIsKeptForTheRetentionTime() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try await a.sync(with: b)
        clock.milliseconds += 10_000
        #expect(try await purge(a, retention: 10_001) == 0)
        #expect(try await purge(a, retention: 10_000) == 1)
    }

    @Test func withoutPeersOnlyTimeCounts() async throws {
        let alone = try Machine("alone", number: 3, clock: clock)
        try alone.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        _ = try await alone.status()
        try alone.shell("DELETE FROM Author")
        _ = try await alone.status()
        #expect(try await purge(alone, retention: 0) == 1)
    }

    /// Nobody has seen the author's new name; the book came with the author, and would not come back.
    @Test func whatLivesOnKeepsWhatGoesWithIt() async throws {
        try b.shell("UPDATE Author SET name = 'Miss Austen' WHERE recordName = 'Author|~|1'")
        _ = try await b.status()
        try await a.store.peers.forget("b")
        try a.shell("PRAGMA foreign_keys = ON; DELETE FROM Author WHERE recordName = 'Author|~|1'")
        _ = try await a.status()
        #expect(try await purge(a, retention: 0) == 1)
        clock.milliseconds += 1000
        #expect(try await purge(a, retention: 0) == 1)
        #expect(try await !isWelcome(b, at: a))
        #expect(try await startOver(b, with: a) == 1)
        #expect(try b.rows("SELECT title FROM Book") == ["Emma"])
    }

    /// The other goes by what this machine had; it has nothing that could come back.
    @Test func whoHasErasedEverythingIsWelcome() async throws {
        try await a.store.peers.forget("b")
        try await b.store.peers.forget(
            "a", erasing: try await b.store.peers.zonesToErase(whenForgetting: "a"))
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        _ = try await a.status()
        #expect(try await purge(a, retention: 0) == 1)
        let (ours, theirs) = (try await peerZone(of: a, for: b), try await peerZone(of: b, for: a))
        let zone = try await b.store.zones.all()[0].id
        let held = try await b.store.exchange.receivedTokens(of: theirs.peer, in: [zone])[zone]
        #expect(held == .start)
        _ = try await a.store.database.read { try ours.begin($0, heldByPeer: held) }
        // With a record of its own, it might hold what was deleted.
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'x')")
        _ = try await b.status()
        #expect(try await b.store.exchange.receivedTokens(of: theirs.peer, in: [zone]).isEmpty)
        #expect(try await !isWelcome(b, at: a))
    }

    /// Whom this machine has never met has nothing to forget.
    @Test func whoIsNewNamesNoToken() async throws {
        let new = try Machine("new", number: 3, clock: clock)
        let peer = try await new.store.peers.add(key: a.key, name: "a")
        let zone = try await new.store.zones.all()[0].id
        #expect(try await new.store.exchange.receivedTokens(of: peer, in: [zone]).isEmpty)
    }

    /// Only a deletion is new: what was below it goes, as all that others have.
    @Test func whatIsDeletedKeepsNothing() async throws {
        try b.shell("PRAGMA foreign_keys = ON; DELETE FROM Author WHERE recordName = 'Author|~|1'")
        #expect(try await startOver(b, with: a) == 2)
        #expect(try await b.state("Book|~|1") == nil)
    }

    @Test func aPeerThatWasThereAllTheTimeIsWelcome() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try await a.sync(with: b)
        _ = try await purge(a, retention: 0)
        #expect(try await isWelcome(b, at: a))
        #expect(try await isWelcome(a, at: b))
    }

    @Test func aPeerThatWasForgottenAndComesBackOldIsRefusedAndStartsOver() async throws {
        // What b wrote and nobody has seen.
        try b.shell(
            "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|2', 'Persuasion', 'Author|~|1')")
        _ = try await b.status()
        try await a.store.peers.forget("b")
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        _ = try await a.status()
        #expect(try await purge(a, retention: 0) == 1)

        #expect(try await !isWelcome(b, at: a))
        // Author 2 and book 1 go; book 2 is b's own, and needs author 1.
        #expect(try await startOver(b, with: a) == 2)
        #expect(try b.rows("SELECT title FROM Book") == ["Persuasion"])
        #expect(try b.rows("SELECT recordName FROM Author") == ["Author|~|1"])
        #expect(try await isWelcome(b, at: a))

        try await a.sync(with: b)
        for machine in [a, b] {
            #expect(try machine.rows("SELECT title FROM Book ORDER BY 1") == ["Emma", "Persuasion"])
            #expect(try machine.rows("SELECT recordName FROM Author") == ["Author|~|1"])
            #expect(try machine.rows("PRAGMA foreign_key_check").isEmpty)
        }
        #expect(try await a.digest() == b.digest())
    }

    /// A new machine that `a` has sent everything, and that was cut off before it had said anything itself.
    private func machineWithACutFirstCopy() async throws -> Machine {
        let new = try Machine("c", number: 3, clock: clock)
        try await a.send(to: new)
        return new
    }

    /// Both end the pairing; the next session pairs them again.
    private func part(_ machine: Machine, from other: Machine) async throws {
        try await machine.store.peers.forget(other.name)
        try await other.store.peers.forget(machine.name)
    }

    /// Deletes a record and forgets that it did: no other machine has to hear of it.
    private func deleteAndForget(_ name: String, on machine: Machine) async throws {
        try machine.shell("DELETE FROM Author WHERE recordName = '\(name)'")
        _ = try await machine.status()
        #expect(try await purge(machine, retention: 0) == 1)
    }

    @Test func whatCameFromThePeerIsForgottenThoughThePeerNeverAcknowledgedIt() async throws {
        try await a.store.peers.forget("b")
        let c = try await machineWithACutFirstCopy()
        try c.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'Shelley')")
        _ = try await c.status()
        try await a.store.peers.forget("c")
        try await deleteAndForget("Author|~|2", on: a)

        #expect(try await !isWelcome(c, at: a))
        #expect(try await startOver(c, with: a) == 3)
        #expect(try c.rows("SELECT name FROM Author") == ["Shelley"])
        try await a.sync(with: c)
        for machine in [a, c] {
            #expect(try machine.rows("SELECT name FROM Author ORDER BY 1") == ["Jane Austen", "Shelley"])
        }
        #expect(try await a.digest() == c.digest())
    }

    @Test func whatCameFromAMachineIsKnownAlsoWhenItIsPairedAgain() async throws {
        try await a.store.peers.forget("b")
        let c = try await machineWithACutFirstCopy()
        try await part(c, from: a)
        try await deleteAndForget("Author|~|2", on: a)

        #expect(try await !isWelcome(c, at: a))
        #expect(try await startOver(c, with: a) == 3)
        try await a.sync(with: c)
        #expect(try a.rows("SELECT name FROM Author") == ["Jane Austen"])
        #expect(try await a.digest() == c.digest())
    }

    @Test func whatThePeerTookIsForgottenThoughItsAcknowledgementWasLost() async throws {
        let peerZone = try await peerZone(of: a, for: b)
        let before = try await a.store.database.read { try peerZone.summary($0).current }
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'Shelley')")
        try await a.send(to: b)
        // As when the machine was cut off after the other's commit.
        try loseAcknowledgements(after: before.sequence)
        try await part(a, from: b)
        try await deleteAndForget("Author|~|3", on: b)

        #expect(try await !isWelcome(a, at: b))
        #expect(try await startOver(a, with: b) == 4)
        try await b.sync(with: a)
        #expect(try b.rows("SELECT name FROM Author ORDER BY 1") == ["Brontë", "Jane Austen"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func startingOverIsNoDeletion() async throws {
        #expect(try await startOver(b, with: a) == 3)
        #expect(try await b.status().tombstones == 0)
        #expect(try b.rows("SELECT * FROM Author").isEmpty)
        #expect(try await b.digest() == Machine("c", number: 9).digest())
    }

    /// A row that went past the triggers leaves nothing behind.
    @Test func whatHasNoRowIsForgottenToo() async throws {
        try b.shell(
            "BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1); DELETE FROM Book; DELETE FROM grdb_sync_capturePause; COMMIT"
        )
        #expect(try await startOver(b, with: a) == 3)
        #expect(try b.rows("SELECT * FROM grdb_sync_remoteRecord").isEmpty)
        #expect(try await b.digest() == Machine("c", number: 9).digest())
    }

    /// A loan needs its book, which needs its author.
    @Test func whatIsKeptKeepsAllThatItNeeds() async throws {
        try b.shell(
            "INSERT INTO Loan (recordName, borrower, book) VALUES ('Loan|~|1', 'Cassandra', 'Book|~|1')")
        #expect(try await startOver(b, with: a) == 1)
        #expect(try b.rows("SELECT borrower FROM Loan") == ["Cassandra"])
        #expect(try b.rows("SELECT title FROM Book") == ["Emma"])
        #expect(try b.rows("SELECT name FROM Author") == ["Jane Austen"])
    }

    /// Makes the store of `a` as it is when the acknowledgements of its peers after a number have not come.
    private func loseAcknowledgements(after sequence: Int64) throws {
        try a.shell("UPDATE grdb_sync_peerZone SET acknowledgedSequence = \(sequence)")
    }

    private func behind(_ peerZone: PeerZone) async throws -> Int {
        try await peerZone.store.database.read {
            try peerZone.store.peers.zones($0, of: peerZone.peer).map(\.pending).reduce(0, +)
        }
    }

    @Test func whatThePeerSaysThatItHoldsIsAcknowledged() async throws {
        let peerZone = try await peerZone(of: a, for: b)
        let theirs = try await self.peerZone(of: b, for: a)
        let held = try #require(try await b.store.database.read { try theirs.summary($0).received })
        // As when the machine was cut off after the other's commit.
        try loseAcknowledgements(after: 0)
        #expect(try await behind(peerZone) == 3)
        try await a.store.database.write { try peerZone.noteBegun($0, at: held) }
        #expect(try await behind(peerZone) == 0)
        try await a.store.database.write { try peerZone.noteBegun($0, at: .start) }
        #expect(try await behind(peerZone) == 0)
    }

    /// Two machines that sent deletions so would answer each other for ever.
    @Test func aDeletionThatComesWithItsFieldsIsNotAnswered() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try await a.sync(with: b)
        let whole = try #require(try await b.state("Author|~|2"))
        #expect(whole.isDeleted && !whole.fields.isEmpty)
        let peerZone = try await peerZone(of: a, for: b)
        let before = try await a.store.database.read { try peerZone.summary($0) }
        let batch = ChangeBatch(
            records: [whole], token: try #require(before.received), isLast: true, isLoose: true)
        _ = try await a.store.database.write { try peerZone.apply($0, batch) }
        let answer = try await a.store.database.read {
            try peerZone.nextBatch($0, after: ReadingPlace(before.current), includingEcho: false).batch
        }
        #expect(answer.records.isEmpty)
    }

    /// Whoever forgot a deletion, and has then taken the record over from a stranger, hears of it from who remembers.
    @Test func whoRemembersADeletionAnswersWithIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try await a.sync(with: b)
        _ = try await purge(a, retention: 0)
        let stranger = try Machine("c", number: 3, clock: SetClock(clock.milliseconds - 60_000))
        try stranger.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'An old copy')")
        try await stranger.sync(with: a)
        #expect(try a.rows("SELECT name FROM Author WHERE recordName = 'Author|~|2'") == ["An old copy"])
        try await a.sync(with: b)
        try await stranger.sync(with: a)
        for machine in [a, b, stranger] {
            #expect(try machine.rows("SELECT 1 FROM Author WHERE recordName = 'Author|~|2'").isEmpty)
        }
        #expect(try await a.digest() == b.digest())
        #expect(try await a.digest() == stranger.digest())
    }
}
