import GRDB
import TestSupport
import Testing

@testable import PeerSyncStore

/// Who has failed to pair too often has to wait, and nobody else has to.
struct PairingAttemptTests {
    private let clock = SetClock(1_700_000_000_000)
    private let store: RecordStore

    init() throws { store = try Machine("kitchen", number: 1, clock: clock).store }

    private func attempt(from address: String, _ count: Int = 1) async throws {
        try await store.database.write { [store] db in
            for _ in 0..<count { try PairingAttempts.begin(db, from: address, now: store.now()) }
        }
    }

    private func expectRefusal(of address: String, _ words: String) async {
        await #expect {
            try await attempt(from: address)
        } throws: { error in
            (error as? RecordStoreError)?.code == .tooManyAttempts
                && (error as? RecordStoreError)?.message.contains(words) == true
        }
    }

    @Test func theSixthAttemptOfAnAddressIsRefused() async throws {
        try await attempt(from: "192.0.2.1", 5)
        await expectRefusal(of: "192.0.2.1", "from 192.0.2.1 did not succeed (5 within 10 minutes)")
        try await attempt(from: "192.0.2.2", 5)
    }

    @Test func attemptsAreForgottenWithTime() async throws {
        try await attempt(from: "192.0.2.1", 2)
        clock.milliseconds += 300_000
        try await attempt(from: "192.0.2.1", 3)
        clock.milliseconds += 299_999
        await expectRefusal(of: "192.0.2.1", "in 1 minute")
        clock.milliseconds += 1
        // Two are old enough now; a refusal counts as no attempt.
        try await attempt(from: "192.0.2.1", 2)
        await expectRefusal(of: "192.0.2.1", "in 5 minutes")
    }

    @Test func whoIsPairedBeginsAnew() async throws {
        try await attempt(from: "192.0.2.1", 4)
        try await attempt(from: "192.0.2.2", 5)
        _ = try await store.peers.add(
            key: [UInt8](repeating: 7, count: 32), name: "study", from: "192.0.2.1")
        try await attempt(from: "192.0.2.1", 5)
        await expectRefusal(of: "192.0.2.2", "from 192.0.2.2")
    }

    /// Whoever has many addresses can make nobody's attempts be forgotten, and has no more than so many in all.
    @Test func manyAddressesTogetherHaveALimitToo() async throws {
        try await attempt(from: "192.0.2.1", 5)
        for number in 0..<59 { try await attempt(from: "198.51.100.\(number)") }
        await expectRefusal(of: "203.0.113.1", "from all addresses together did not succeed (64 within")
        await expectRefusal(of: "192.0.2.1", "from 192.0.2.1")
        let rows = try await store.database.read { try $0.count("grdb_sync_pairingAttempt") }
        #expect(rows == 64)
        clock.milliseconds += 600_000
        try await attempt(from: "203.0.113.1")
        #expect(try await store.database.read { try $0.count("grdb_sync_pairingAttempt") } == 1)
    }

    /// A clock that was ahead and was set right must not keep anybody out.
    @Test func attemptsOfTheFutureDoNotCount() async throws {
        try await attempt(from: "192.0.2.1", 5)
        clock.milliseconds -= 3_600_000
        try await attempt(from: "192.0.2.1", 5)
        await expectRefusal(of: "192.0.2.1", "in 10 minutes")
    }
}

extension Database {
    fileprivate func count(_ table: String) throws -> Int {
        try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
    }
}
