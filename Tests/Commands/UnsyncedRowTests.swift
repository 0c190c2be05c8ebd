import Testing

/// A record that cannot be synced stays where it was written, and keeps no machine from syncing the rest.
@Suite(.takingTurns) struct UnsyncedRowTests {
    @Test func aRecordThatIsTooLargeStopsNobody() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try kitchen.write(
                "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|large', zeroblob(9 << 20))")
            try await kitchen.addGame("Hearts")
            let figures = try await study.sync(with: kitchen)
            #expect(figures.received == 2)
            #expect(try study.rows("SELECT name FROM SBGame ORDER BY name") == ["Catan", "Hearts"])
            let status = try await kitchen.peer("status", "--verbose")
            #expect(status.contains("not synced"))
            #expect(status.contains("SBGame|~|large"))
            let check = try await kitchen.run("status", "--check")
            #expect(check.exitCode == 65)
            #expect(check.errors.contains("SBGame|~|large is too large to be synced"))
            // Syncing and comparing everything go on as often as anybody likes.
            try await study.addGame("Skat")
            try await study.sync(with: kitchen)
            let listener = try await kitchen.listen()
            try await study.peer("verify", listener.address)
            try await listener.stop()
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame") == ["4"])

            try kitchen.write("UPDATE SBGame SET name = 'Chess' WHERE recordName = 'SBGame|~|large'")
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT COUNT(*) FROM SBGame WHERE name = 'Chess'") == ["1"])
            #expect(try await !kitchen.peer("status").contains("not synced"))
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    /// What one machine knows of a record that has become too large elsewhere, it tells to others as before.
    @Test func aThirdMachineGetsWhatTheSecondHas() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try kitchen.write("UPDATE SBGame SET name = zeroblob(9 << 20) WHERE recordName = '\(game)'")
            try await study.sync(with: kitchen)
            let hall = kitchen.scene.machine("hall")
            try await hall.pair(with: study)
            try await hall.pair(with: kitchen)
            #expect(try hall.rows("SELECT name FROM SBGame") == ["Catan"])
            #expect(try await haveEqualDigests(study, hall))
        }
    }

    @Test func aRowWithANameThatCannotBeSyncedIsNamed() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            // As a table of before has it, whose CHECK lets U+0000 pass.
            try kitchen.write(
                """
                PRAGMA ignore_check_constraints = ON;
                INSERT INTO SBGame (recordName, name) VALUES ('\(game)' || char(0), 'Nobody''s')
                """)
            let status = try await kitchen.peer("status", "--verbose")
            #expect(status.contains("not synced"))
            #expect(status.contains("\(game)\\u{0}"))
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
            let repair = try await kitchen.run("status", "--check", "--repair")
            #expect(repair.exitCode == 65)
            #expect(!repair.output.contains("repaired"))
            #expect(repair.errors.contains("is not a name that can be synced"))
        }
    }

    @Test func theTablesRefuseSuchANameFromNowOn() async throws {
        try await withTwoMachines { kitchen, _ in
            let game = try await kitchen.addGame("Catan")
            #expect(throws: (any Error).self) {
                try kitchen.write("INSERT INTO SBGame (recordName) VALUES ('\(game)' || char(0))")
            }
        }
    }
}
