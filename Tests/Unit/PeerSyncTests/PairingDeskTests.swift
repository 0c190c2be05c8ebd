import GRDB
import PeerSyncProtocol
import PeerSyncStore
import Scorebook
import TestSupport
import Testing

@testable import PeerSync

/// A code lives for a time, allows three attempts, one at a time, and pairs one machine, whichever program shows it.
struct PairingDeskTests {
    private let clock = SetClock(1_700_000_000_000)
    private let store: RecordStore
    private let desk: PairingDesk

    init() throws {
        store = try ScorebookStore(
            DatabaseQueue(), replica: Identity.generate().replicaID, now: { [clock] in clock.milliseconds }
        ).records
        desk = PairingDesk(store)
    }

    private func expectUnavailable(_ code: ProtocolError.Code = .pairingUnavailable) async {
        await #expect { try await desk.beginAttempt() } throws: { ($0 as? ProtocolError)?.code == code }
    }

    @Test func nothingShownMeansNothingToTry() async throws {
        await expectUnavailable()
        #expect(try await !desk.isShowing)
    }

    @Test func threeAttemptsAndNoMore() async throws {
        let shown = try await desk.show(for: nil)
        for left in [2, 1, 0] {
            #expect(try await desk.isShowing)
            let attempt = try await desk.beginAttempt()
            #expect(attempt.code == shown.code)
            #expect(try await desk.endAttempt(attempt, succeeded: false) == left)
            #expect(try await shown.state == (left == 0 ? .over : .shown(attemptsLeft: left)))
        }
        await expectUnavailable()
        #expect(try await !desk.isShowing)
    }

    /// Whoever comes meanwhile hears that the code is used up, and not that it is worth another try.
    @Test func theLastAttemptUsesTheCodeUpAsItBegins() async throws {
        let shown = try await desk.show(for: nil)
        for _ in 1..<PairingDesk.attempts {
            try await desk.endAttempt(try await desk.beginAttempt(), succeeded: false)
        }
        let last = try await desk.beginAttempt()
        #expect(last.code == shown.code)
        await expectUnavailable()
        // It may still succeed.
        #expect(try await shown.state == .shown(attemptsLeft: 1))
        #expect(try await desk.endAttempt(last, succeeded: false) == 0)
        await expectUnavailable()
    }

    @Test func oneAttemptAtATime() async throws {
        _ = try await desk.show()
        let attempt = try await desk.beginAttempt()
        await expectUnavailable(.pairingBusy)
        try await desk.endAttempt(attempt, succeeded: false)
        _ = try await desk.beginAttempt()
    }

    /// A program that was killed in the middle of an attempt cannot end it.
    @Test func anAttemptOfAProgramThatIsGoneHoldsUpNobody() async throws {
        _ = try await desk.show()
        _ = try await desk.beginAttempt()
        try await store.database.write { db in
            try db.execute(sql: "UPDATE grdb_sync_pairingCode SET start = 'another run of the system'")
        }
        let next = try await desk.beginAttempt()
        #expect(try await desk.endAttempt(next, succeeded: false) == PairingDesk.attempts - 2)
    }

    /// Whoever shows the code would wait for ever.
    @Test func theLastAttemptOfAProgramThatIsGoneIsTheEndOfTheCode() async throws {
        let shown = try await desk.show(for: nil)
        for _ in 1..<PairingDesk.attempts {
            try await desk.endAttempt(try await desk.beginAttempt(), succeeded: false)
        }
        _ = try await desk.beginAttempt()
        #expect(try await shown.state == .shown(attemptsLeft: 1))
        try await store.database.write { db in
            try db.execute(sql: "UPDATE grdb_sync_pairingCode SET start = 'another run of the system'")
        }
        #expect(try await shown.state == .over)
    }

    @Test func successUsesTheCodeUp() async throws {
        let shown = try await desk.show(for: nil)
        let attempt = try await desk.beginAttempt(from: "192.0.2.1")
        let peer = try await store.peers.add(
            key: [UInt8](repeating: 7, count: 32), name: "study", from: "192.0.2.1", code: attempt.number)
        // The program may be killed before it ends the attempt.
        await expectUnavailable()
        #expect(try await shown.state == .paired(peer.name))
        try await desk.endAttempt(attempt, succeeded: true)
        await expectUnavailable()
        #expect(try await shown.state == .paired(peer.name))
        // Nobody who reads the store later learns the code.
        #expect(
            try await store.database.read {
                try String.fetchOne($0, sql: "SELECT code FROM grdb_sync_pairingCode")
            } == "")
    }

    @Test func anExpiredCodeIsRefused() async throws {
        let shown = try await desk.show(for: nil)
        clock.milliseconds += 299_999
        #expect(try await desk.isShowing)
        clock.milliseconds += 1
        await expectUnavailable()
        #expect(try await shown.state == .over)
    }

    @Test(arguments: [(.seconds(Int64.max), 86_400_000), (.zero, 1000)] as [(Duration, Int64)])
    func everyLifetimeEnds(lifetime: Duration, milliseconds: Int64) async throws {
        _ = try await desk.show(lifetime: lifetime)
        clock.milliseconds += milliseconds - 1
        #expect(try await desk.isShowing)
        clock.milliseconds += 1
        #expect(try await !desk.isShowing)
    }

    @Test func aNewCodeReplacesTheOld() async throws {
        let first = try await desk.show(for: nil)
        let second = try await desk.show()
        #expect(try await first.state == .over)
        #expect(try await desk.beginAttempt().code == second)
    }

    @Test func aCodeThatIsTakenBackIsOver() async throws {
        let shown = try await desk.show(for: nil)
        try await shown.hide()
        await expectUnavailable()
        #expect(try await shown.state == .over)
    }

    @Test func anAttemptThatIsRefusedDoesNotCount() async throws {
        for _ in 1...5 {
            _ = try await desk.show()
            let attempt = try await desk.beginAttempt(from: "192.0.2.1")
            _ = try await desk.endAttempt(attempt, succeeded: false)
        }
        _ = try await desk.show()
        for _ in 1...10 {
            await #expect {
                try await desk.beginAttempt(from: "192.0.2.1")
            } throws: {
                ($0 as? RecordStoreError)?.code == .tooManyAttempts
            }
        }
        let attempt = try await desk.beginAttempt(from: "192.0.2.2")
        #expect(try await desk.endAttempt(attempt, succeeded: false) == PairingDesk.attempts - 1)
    }

    @Test func theEndOfAnAttemptDoesNotTouchALaterCode() async throws {
        _ = try await desk.show()
        let attempt = try await desk.beginAttempt()
        let second = try await desk.show()
        #expect(try await desk.endAttempt(attempt, succeeded: true) == 0)
        #expect(try await desk.beginAttempt().code == second)
    }

    // MARK: What the new machine gets

    private func grants(_ welcome: Welcome?) async throws -> [String] {
        for zone in ["Club", "Private"] { _ = try await store.zones.create(zone) }
        _ = try await desk.show(for: welcome)
        let attempt = try await desk.beginAttempt()
        let peer = try await store.peers.add(
            key: [UInt8](repeating: 7, count: 32), name: "study", from: "192.0.2.1", code: attempt.number)
        return try await store.database.read { db in
            try store.zones.grants(db, to: peer).map { "\($0.zone) \($0.rights.rawValue)" }.sorted()
        }
    }

    @Test(arguments: [
        (nil, ["Club 0", "Private 0", "ScorebookData 2"]),
        (Welcome(.write), ["Club 0", "Private 0", "ScorebookData 2"]),
        (Welcome(.read), ["Club 0", "Private 0", "ScorebookData 1"]),
        (Welcome(.write, in: "Club"), ["Club 2", "Private 0", "ScorebookData 0"]),
        (Welcome(.read, in: "ScorebookData"), ["Club 0", "Private 0", "ScorebookData 1"]),
    ]) func theOwnerSaysWhatTheMachineGets(welcome: Welcome?, expected: [String]) async throws {
        #expect(try await grants(welcome) == expected)
    }

    /// As when the other machine has forgotten this one, which still has it.
    @Test func aMachineThatPairsAgainKeepsTheRightsThatSomebodyHasSet() async throws {
        for zone in ["Club", "Private"] { _ = try await store.zones.create(zone) }
        let key = [UInt8](repeating: 7, count: 32)
        let known = try await store.peers.add(key: key, name: "study")
        try await store.zones.grant(.read, to: "study", in: "Club")
        try await store.zones.grant(.none, to: "study", in: "Private")
        try await store.zones.grant(.none, to: "study", in: "ScorebookData")
        _ = try await desk.show(for: Welcome(.write))
        let attempt = try await desk.beginAttempt()
        _ = try await store.peers.add(key: key, name: "study", from: "192.0.2.1", code: attempt.number)
        let grants = try await store.database.read { try store.zones.grants($0, to: known) }
        #expect(
            grants.map { "\($0.zone) \($0.rights.rawValue)" } == ["ScorebookData 2", "Club 1", "Private 0"])
    }

    @Test func aZoneThatIsNotThereIsNoWelcome() async throws {
        await #expect {
            try await desk.show(for: Welcome(.write, in: "Nowhere"))
        } throws: {
            ($0 as? RecordStoreError)?.code == .noSuchZone
        }
        #expect(try await !desk.isShowing)
    }
}
