import Testing

/// A deletion reaches the other machine with all that goes with it, and takes nothing that is newer than itself.
@Suite(.takingTurns) struct DeletionSyncTests {
    @Test func aDeletionTakesItsChildrenEverywhere() async throws {
        try await withHousehold { kitchen, study in
            let matches = try #require(
                try study.rows(
                    """
                    SELECT COUNT(*) FROM SBMatch JOIN SBGame ON SBGame.recordName = game
                    WHERE SBGame.name = 'Scythe'
                    """
                ).first.flatMap { Int($0) })
            try #require(matches > 0)
            try await study.peer("game", "delete", "Scythe", "--yes")
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBMatch") == ["\(400 - matches)"])
            #expect(try kitchen.rows("SELECT * FROM SBGame WHERE name = 'Scythe'").isEmpty)
            #expect(try kitchen.contents() == study.contents())
            let (here, there) = (try await kitchen.status(), try await study.status())
            #expect(here.digest == there.digest)
            #expect(here.tombstones == 1 && there.tombstones == 1)
            #expect(here.hidden == there.hidden && here.hidden > matches)
            #expect(here.live + here.tombstones == Household.recordCount)
            #expect(try kitchen.isSound() && study.isSound())
        }
    }

    @Test func aDryRunListsAndDeletesNothing() async throws {
        try await withMachine { kitchen in
            let game = try await kitchen.addGame("Catan")
            try await kitchen.addMatch("Catan", "Ada=1")
            let digest = try await kitchen.digest()
            let output = try await kitchen.peer("record", "delete", game, "--dry-run")
            let lines = output.split(separator: "\n")
            #expect(lines.count == 4 && lines.last == "would delete Catan", "\(output)")
            for title in ["the match Catan, ", "the player Ada in Catan, ", "the score 1 of Ada in Catan, "] {
                #expect(output.contains("would delete \(title)"), "\(output)")
            }
            #expect(try await kitchen.digest() == digest)
        }
    }

    @Test(arguments: ["", "COMMIT; BEGIN;"])
    func deletingAndInsertingANameAgainIsAnUpdate(between: String) async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=1")
            try await study.sync(with: kitchen)
            try kitchen.write(
                """
                BEGIN;
                DELETE FROM SBGame WHERE recordName = '\(game)'; \(between)
                INSERT INTO SBGame (recordName, name, year) VALUES ('\(game)', 'Catan, 2nd edition', 2020);
                COMMIT
                """)
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(
                    try machine.rows("SELECT recordName, name, year FROM SBGame")
                        == ["\(game)|Catan, 2nd edition|2020"])
                #expect(try machine.rows("SELECT recordName, game FROM SBMatch") == ["\(match)|\(game)"])
                let status = try await machine.status()
                #expect(status.tombstones == 0 && status.held == 0)
            }
            #expect(try await kitchen.digest() == study.digest())
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func anEditThatIsNewerBringsTheRecordBackWhole() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.json(
                RecordLine.self, "game", "add", "Catan", "--year", "1995", "--max-players", "4"
            ).recordName
            try await study.sync(with: kitchen)
            try await kitchen.peer("game", "delete", game, "--yes")
            try await study.peer("game", "edit", game, "--name", "Catan, played again")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(
                    try machine.rows("SELECT name, year, maxPlayers FROM SBGame")
                        == ["Catan, played again|1995|4"])
            }
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func anEditThatIsOlderDoesNot() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await study.peer("game", "edit", game, "--name", "Catan, played again")
            try await kitchen.peer("game", "delete", game, "--yes")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try machine.rows("SELECT * FROM SBGame").isEmpty)
                #expect(try await machine.status().tombstones == 1)
            }
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func aMatchThatIsNewerBringsItsGameBackWhole() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            let older = try await kitchen.addMatch("Catan", "Ada=1")
            try await study.sync(with: kitchen)
            try await kitchen.peer("game", "delete", game, "--yes")
            let newer = try await study.addMatch("Catan", "Ada=2")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try machine.rows("SELECT name FROM SBGame") == ["Catan"])
                #expect(
                    try machine.rows("SELECT recordName FROM SBMatch ORDER BY 1") == [older, newer].sorted())
                #expect(try await machine.status().held == 0)
            }
            #expect(try await kitchen.digest() == study.digest())
            #expect(try kitchen.contents() == study.contents())
        }
    }
}
