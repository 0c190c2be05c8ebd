import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// What sync overwrote is kept for a while, and comes back as a new write.
struct HistoryTests {
    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine
    private let name: RecordName

    /// Two machines with a book of an author.
    init() async throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: clock)
        name = try RecordName("Book|~|1")
        try a.shell(
            """
            INSERT INTO Author (recordName, name, born) VALUES ('Author|~|1', 'Jane Austen', '1775-12-16T00:00:00Z');
            INSERT INTO Book (recordName, title, pages, author) VALUES ('Book|~|1', 'Emma', 400, 'Author|~|1');
            """)
        try await a.sync(with: b)
        clock.milliseconds += 1000
    }

    private func history(_ machine: Machine, of text: String = "Book|~|1") async throws -> [HistoryEntry] {
        try await machine.store.database.read {
            try machine.store.history.entries($0, of: RecordName(text))
        }
    }

    private func write(_ sql: String, on machine: Machine) throws {
        try machine.shell(sql)
        clock.milliseconds += 1000
    }

    @Test func aFirstCopyLeavesNoHistory() throws {
        #expect(try b.rows("SELECT * FROM grdb_sync_history").isEmpty)
    }

    @Test func bothValuesBothMachinesAndTheTimeAreKept() async throws {
        try write("UPDATE Book SET title = 'Emma.'", on: a)
        try await a.sync(with: b)
        let entry = try #require(try await history(b).first)
        #expect(try await history(b).count == 1)
        #expect(try await history(a).isEmpty)
        #expect(entry.field == "title")
        #expect(entry.lost.value == .text("Emma"))
        #expect(entry.won.value == .text("Emma."))
        #expect(entry.won.stamp.replica.rawValue == 1)
        #expect(entry.won.stamp.time.milliseconds == 1_700_000_001_000)
        #expect(entry.noticed == clock.milliseconds)
        #expect(entry.wasShown)
        let now = clock.milliseconds
        let late = try await b.store.database.read { try b.store.history.entries($0, since: now) }
        #expect(late == [entry])
    }

    @Test func theValueThatLosesAConflictIsKeptOnBothMachinesAndComesBack() async throws {
        try write("UPDATE Book SET pages = 401", on: a)
        try write("UPDATE Book SET pages = 402", on: b)
        try await a.sync(with: b)
        #expect(try a.rows("SELECT pages FROM Book") == ["402"])
        let here = try #require(try await history(a).first)
        let there = try #require(try await history(b).first)
        #expect(here.lost == there.lost)
        #expect(here.wasShown && !there.wasShown)
        let restored = try await b.store.database.write { [name] db in
            try b.store.history.restore(db, name, at: there.lost.stamp.time.milliseconds)
        }
        #expect(restored == ["pages"])
        clock.milliseconds += 1000
        try await a.sync(with: b)
        #expect(try a.rows("SELECT pages FROM Book") == ["401"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aValueThatComesLateAgainIsKeptOnce() async throws {
        try write("UPDATE Book SET pages = 401", on: a)
        let c = try Machine("c", number: 3, clock: clock)
        try await a.sync(with: c)
        try write("UPDATE Book SET pages = 402", on: b)
        try await a.send(to: b)
        try await c.send(to: b)
        #expect(try await history(b).count == 1)
    }

    @Test func theRecordComesBackAsItWasAtATime() async throws {
        let then = clock.milliseconds - 1
        try write("UPDATE Book SET title = 'X', pages = 1; UPDATE Author SET born = NULL", on: a)
        try await a.sync(with: b)
        try write("UPDATE Book SET title = 'Y'", on: a)
        try await a.sync(with: b)
        try write("DELETE FROM Book", on: a)
        try await a.sync(with: b)
        #expect(try await history(b).first?.field == nil)
        let fields = try await b.store.database.write { [name] db in
            try b.store.history.restore(db, name, at: then)
        }
        #expect(fields == ["pages", "title"])
        _ = try await b.store.database.write { db in
            try b.store.history.restore(db, RecordName("Author|~|1"), at: then)
        }
        clock.milliseconds += 1000
        try await a.sync(with: b)
        #expect(try a.rows("SELECT title, pages FROM Book") == ["Emma|400"])
        #expect(try a.rows("SELECT born FROM Author") == ["1775-12-16T00:00:00Z"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aTextWithNULComesBackWhole() async throws {
        try write("UPDATE Book SET title = 'Em' || char(0) || 'ma'", on: a)
        try await a.sync(with: b)
        let then = clock.milliseconds - 1
        try write("UPDATE Book SET title = 'Y' || char(0)", on: b)
        try await a.sync(with: b)
        let entry = try #require(try await history(a).first)
        #expect(entry.lost.value == .text("Em\u{0}ma"))
        #expect(entry.won.value == .text("Y\u{0}"))
        _ = try await a.store.database.write { [a, name] in try a.store.history.restore($0, name, at: then) }
        clock.milliseconds += 1000
        try await a.sync(with: b)
        for machine in [a, b] { #expect(try machine.rows("SELECT hex(title) FROM Book") == ["456D006D61"]) }
    }

    @Test func aRecordThatWentWithADeletedOneComesBackWithWhatItNeeds() async throws {
        let then = clock.milliseconds - 1
        _ = try await a.store.write { [a] in try a.store.delete($0, RecordName("Author|~|1")) }
        try await a.sync(with: b)
        #expect(try b.rows("SELECT title FROM Book").isEmpty)
        clock.milliseconds += 1000
        let late = clock.milliseconds
        _ = try await b.store.database.write { [name] in try b.store.history.restore($0, name, at: late) }
        #expect(try b.rows("SELECT title FROM Book").isEmpty)
        _ = try await b.store.database.write { [name] in try b.store.history.restore($0, name, at: then) }
        #expect(try b.rows("SELECT title, name FROM Book JOIN Author") == ["Emma|Jane Austen"])
        try await a.sync(with: b)
        #expect(try await a.digest() == b.digest())
    }

    @Test func onlyTheFieldsThatSomebodyAskedForComeBack() async throws {
        let then = clock.milliseconds - 1
        try write("UPDATE Book SET title = 'X', pages = 1", on: a)
        try await a.sync(with: b)
        _ = try await b.store.database.write { [name] db in
            try b.store.history.restore(db, name, at: then, fields: ["pages"])
        }
        #expect(try b.rows("SELECT title, pages FROM Book") == ["X|400"])
    }

    @Test func nothingIsKeptOfWhatWasDeletedForEver() async throws {
        try write("UPDATE Book SET title = 'secret'", on: a)
        try await a.sync(with: b)
        try write("UPDATE Book SET title = 'plain'", on: a)
        try await a.sync(with: b)
        #expect(try await history(b).count == 2)
        _ = try await a.store.write { [name] db in try a.store.deleteForever(db, name) }
        try await a.sync(with: b)
        #expect(try await history(b).isEmpty)
    }

    @Test func theHistoryEndsWithTheRetentionAndWithItsSize() async throws {
        try write("UPDATE Book SET title = 'Y'", on: a)
        try await a.sync(with: b)
        try await b.store.database.write { [clock] db in
            try HistoryTable.purge(db, before: clock.milliseconds)
        }
        #expect(try await history(b).count == 1)
        for number in 1...8 {
            try write("UPDATE Book SET title = '\(number)' || hex(zeroblob(1000))", on: a)
            try await a.sync(with: b)
        }
        #expect(try await history(b).count == 9)
        try await b.store.database.write { db in try HistoryTable.trim(db, to: 8_000) }
        let left = try await history(b)
        #expect(left.count == 1)
        let size = "SELECT value FROM grdb_sync_syncState WHERE name = 'historySize'"
        #expect(try Int(b.rows(size)[0])! <= 8_000)
        clock.milliseconds += 1
        try await b.store.database.write { [clock] db in
            try HistoryTable.purge(db, before: clock.milliseconds)
        }
        #expect(try b.rows(size) == ["0"])
    }

    @Test func aValueThatIsTooLargeLeavesNoRow() async throws {
        try write("UPDATE Book SET title = hex(zeroblob(600000))", on: a)
        try await a.sync(with: b)
        #expect(try await history(b).isEmpty)
    }

    @Test func aRecordThatNobodyKnowsCannotBeRestored() async throws {
        await #expect(throws: RecordStoreError.self) {
            try await b.store.database.write { db in
                try b.store.history.restore(db, RecordName("Book|~|none"), at: 0)
            }
        }
    }

    @Test func eachDeletionOfARecordIsKept() async throws {
        for _ in 0..<2 {
            try write("DELETE FROM Book", on: a)
            try await a.sync(with: b)
            _ = try await a.store.write { [a, name] db in try a.store.restore(db, name) }
            clock.milliseconds += 1000
            try await a.sync(with: b)
        }
        let deletions = try await history(b).filter { $0.field == nil }
        #expect(deletions.count == 2)
        #expect(Set(deletions.map(\.won.stamp)).count == 2)
    }
}
