import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// What a wrong clock has dated is dated anew, behind all that was dated well.
struct ClockRepairTests: PeerRecords {
    private static let now: Int64 = 1_700_000_000_000

    private let clock = SetClock(Self.now)
    private let machine: Machine

    init() throws {
        machine = try Machine("a", number: 1, clock: clock)
    }

    private func write(_ sql: String, ahead: Int64) async throws {
        clock.milliseconds = Self.now + ahead
        try machine.shell(sql)
        try await machine.store.foldPendingChanges()
        clock.milliseconds = Self.now
    }

    /// A stamp may be minutes ahead, and is left as it is: the later write, which was hours ahead, is still the later one.
    @Test func whatWasLaterStaysLater() async throws {
        let other = try Machine("b", number: 2, clock: clock)
        try await write(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'first')", ahead: 240_000)
        try await machine.sync(with: other)
        try await write("UPDATE Author SET name = 'second'", ahead: 7_200_000)
        let store = machine.store
        try await store.database.write { _ = try store.clock.repair($0) }
        try await machine.sync(with: other)
        for machine in [machine, other] { #expect(try machine.rows("SELECT name FROM Author") == ["second"]) }
    }

    /// Whatever in a record is from the future beats what is written now.
    @Test(arguments: [0, 1, 2])
    func nothingFromTheFutureIsTaken(part: Int) async throws {
        let stamp = Stamp(
            time: HybridTime(milliseconds: Self.now + StoreClock.defaultAllowedSkew + 1),
            replica: ReplicaID(rawValue: 7))
        let old = Stamp(time: HybridTime(milliseconds: Self.now), replica: ReplicaID(rawValue: 7))
        let state = RecordState(
            name: try RecordName("Author|~|1"),
            fields: [RecordField(name: "name", value: .text("x"), stamp: part == 0 ? stamp : old)],
            deletion: part == 1 ? stamp : nil, revival: part == 2 ? stamp : nil)
        let error = await #expect(throws: RecordStoreError.self) {
            try await apply([[state]], to: machine)
        }
        #expect(error?.code == .clockSkew)
        #expect(try machine.rows("SELECT * FROM grdb_sync_remoteRecord").isEmpty)
    }
}
