import TestSupport
import Testing

/// A line that is slow or breaks, at whatever byte, loses nothing: the next sync completes it.
@Suite(.takingTurns) struct LineTests {
    /// In the lengths of frames, in the handshake, in the greeting, before, in and behind the records.
    static let bytes = [0, 1, 2, 50, 98, 108, 109, 300, 450, 620, 1_000, 5_000]

    private func fill(_ machine: Machine) throws {
        try machine.write(
            """
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100)
            INSERT INTO SBGame (recordName, name) SELECT 'SBGame|~|\(machine.name)' || n, 'Game ' || n FROM number
            """)
    }

    @Test(arguments: Proxy.Side.allCases)
    func aLineThatIsCutAtAnyByteHarmsNothing(side: Proxy.Side) async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            for bytes in Self.bytes {
                for machine in [kitchen, study] {
                    try machine.write("DELETE FROM SBGame WHERE recordName LIKE 'SBGame|~|\(machine.name)%'")
                    try fill(machine)
                }
                let proxy = try Proxy(to: listener.port, .cut(side, afterBytes: bytes))
                let outcome = try await study.run("connect", proxy.address, "--once")
                // A short sync may be through by then.
                #expect(
                    outcome.exitCode == 75 || outcome.exitCode == 0 && bytes > 1_000, "\(bytes): \(outcome)")
                try await study.sync(listener)
                #expect(try kitchen.contents() == study.contents(), "\(bytes)")
                #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame") == ["200"])
            }
            #expect(try kitchen.isSound() && study.isSound())
        }
    }

    @Test func aSlowLineTakesLongerAndThatIsAll() async throws {
        try await withPair { kitchen, study in
            try fill(kitchen)
            try fill(study)
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .delay(.milliseconds(50)))
            let caller = try study.start(["connect", proxy.address, "--json"])
            try await caller.event("inSync")
            #expect(try kitchen.contents() == study.contents())
            try await kitchen.addGame("Late")
            try await eventually("what was added") {
                try study.rows("SELECT 1 FROM SBGame WHERE name = 'Late'") == ["1"]
            }
        }
    }

    /// What arrives otherwise than it was sent ends its connection and no more than that.
    @Test(arguments: Proxy.Side.allCases) func aByteThatChangesOnTheWayEndsNothing(side: Proxy.Side)
        async throws
    {
        try await withPair { kitchen, study in
            try await (side == .caller ? study : kitchen).importHousehold()
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .flip(side, afterBytes: 100_000))
            let caller = try study.start(["connect", proxy.address, "--json"])
            let reason = try #require(try await caller.event("retrying").reason)
            #expect(side == .caller || reason.contains("not what was sent"), "\(reason)")
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study) }
            #expect(caller.isRunning)
        }
    }
}
