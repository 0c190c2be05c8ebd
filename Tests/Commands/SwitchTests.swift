import Foundation
import TestSupport
import Testing

/// Sync can be switched off: a machine then has no connections, goes on tracking what is written, and catches up.
@Suite(.takingTurns) struct SwitchTests {
    @Test func switchedOffNothingConnects() async throws {
        try await withPair { kitchen, study in
            #expect(try await study.peer("sync") == "sync is on\n")
            #expect(try await study.peer("sync", "off") == "sync is off\n")
            let listener = try await kitchen.listen()
            for arguments in [
                ["connect", listener.address, "--once"], ["connect", listener.address],
                ["verify", listener.address], ["listen", "--host", "127.0.0.1", "--port", "0"],
            ] {
                let outcome = try await study.start(arguments).outcome()
                #expect(outcome.isSentence(77), "\(arguments): \(outcome)")
                #expect(outcome.errors.contains("sync on"), "\(outcome)")
            }
            #expect(try await study.status().sync == false)
            #expect(try await study.peer("status").contains("off; scorebook-peer sync on switches it on"))
            #expect(try listener.process.events("connected").isEmpty)
        }
    }

    /// What is written in the meantime, on both sides and by whichever program, is exchanged afterwards.
    @Test func whatWasWrittenInTheMeantimeIsExchanged() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await study.peer("sync", "off")
            try await study.addGame("Hearts")
            try study.write("UPDATE SBGame SET year = 1995 WHERE name = 'Catan'")
            try await kitchen.addGame("Scythe")
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            #expect(try await !haveEqualDigests(kitchen, study))
            try study.write("UPDATE SBGame SET maxPlayers = 4 WHERE name = 'Catan'")
            try await study.peer("sync", "on")
            try await study.sync(with: kitchen)
            #expect(try await haveEqualDigests(kitchen, study))
            // The edit is newer than the deletion.
            for machine in [kitchen, study] {
                #expect(
                    try machine.rows("SELECT name, year, maxPlayers FROM SBGame ORDER BY name") == [
                        "Catan|1995|4", "Hearts|-|-", "Scythe|-|-",
                    ])
            }
        }
    }

    @Test func aRunningConnectionEndsWhenItsMachineIsSwitchedOff() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await study.peer("sync", "off")
            #expect(try await connection.end() == 77)
            #expect(connection.errors.contains("sync is switched off here"))
            try await listener.process.event("disconnected")
            // The other machine goes on.
            #expect(listener.process.isRunning)
            try await study.addGame("Hearts")
            try await kitchen.addGame("Catan")
            try await study.peer("sync", "on")
            let next = try await study.connect(to: listener)
            try await eventually("both games on both machines") {
                try kitchen.rows("SELECT name FROM SBGame ORDER BY 1") == ["Catan", "Hearts"]
                    && study.rows("SELECT name FROM SBGame ORDER BY 1") == ["Catan", "Hearts"]
            }
            #expect(next.isRunning)
        }
    }

    @Test func aRunningListenerEndsWhenItsMachineIsSwitchedOff() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await kitchen.peer("sync", "off")
            #expect(try await listener.process.end() == 77)
            #expect(listener.process.errors.contains("sync is switched off here"))
            try await connection.event("disconnected")
            // It cannot be reached until it is switched on again.
            #expect(try await kitchen.run("listen", "--port", "\(listener.port)").isSentence(77))
            try await kitchen.peer("sync", "on")
            try await kitchen.addGame("Catan")
            let again = try await kitchen.listen()
            try await study.sync(again)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }

    /// The switch is a setting of the store: no program has to run for it, and copies of the process do not matter.
    @Test func theSwitchStaysOverRestarts() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("sync", "off")
            for _ in 0..<2 {
                #expect(try await kitchen.run("listen", "--port", "0").isSentence(77))
                #expect(try await kitchen.peer("sync") == "sync is off\n")
            }
            try await kitchen.peer("sync", "off")
            try await kitchen.peer("sync", "on")
            let listener = try await kitchen.listen()
            try await listener.stop()
            #expect(try await kitchen.peer("sync") == "sync is on\n")
        }
    }
}
