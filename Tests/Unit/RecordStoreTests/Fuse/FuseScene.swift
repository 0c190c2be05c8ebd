import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// Three machines with 100 authors, of whom the first has 20 books. The fuses of two ask from a tenth and 12 records on.
struct FuseScene {
    let clock = SetClock(1_700_000_000_000)
    let a: Machine
    let b: Machine
    let c: Machine

    init() async throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: clock)
        c = try Machine("c", number: 3, clock: clock)
        for number in 1...100 {
            try a.shell(
                "INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'Name \(number)')")
        }
        for number in 1...20 {
            try a.shell(
                "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|\(number)', 'T', 'Author|~|1')")
        }
        try await a.sync(with: b)
        try await b.sync(with: c)
        clock.milliseconds += 1000
        for machine in [b, c] { try await machine.setFuse(FuseSetting(share: 0.1, records: 12)) }
    }

    static func expectEqual(_ machines: Machine...) async throws {
        for _ in 0..<3 {
            for other in machines.dropFirst() { try await machines[0].sync(with: other) }
        }
        for other in machines.dropFirst() {
            #expect(try other.everything() == machines[0].everything())
            #expect(try await other.digest() == machines[0].digest())
        }
    }
}

extension Machine {
    func setFuse(_ setting: FuseSetting?) async throws {
        try await store.database.write { [store] in try store.fuse.set($0, setting) }
    }

    func alarms() async throws -> [FuseAlarm] {
        try await store.foldPendingChanges()
        return try await store.database.read { [store] in try store.fuse.alarms($0) }
    }

    /// Allows all that waits, one after the other: a decision may settle others.
    func allow() async throws {
        while let alarm = try await alarms().first {
            try await store.database.write { [store] in try store.fuse.allow($0, alarm) }
        }
    }

    @discardableResult
    func refuse() async throws -> [RecordName] {
        var kept: [RecordName] = []
        while let alarm = try await alarms().first {
            kept += try await store.database.write { [store] in try store.fuse.refuse($0, alarm) }
        }
        return kept
    }

    func authors() throws -> Int { Int(try rows("SELECT COUNT(*) FROM Author")[0])! }

    func everything() throws -> [String] {
        try rows("SELECT recordName, name FROM Author ORDER BY 1")
            + rows("SELECT recordName, title FROM Book ORDER BY 1")
    }
}
