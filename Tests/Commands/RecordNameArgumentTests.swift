import Testing

/// What is no record name of the scorebook is refused wherever one is asked for.
@Suite(.takingTurns) struct RecordNameArgumentTests {
    @Test(arguments: [
        ("no type", "0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4", "record type"),
        ("nothing", "", "record"),
        ("no separator", "SBGame-1", "record type"),
        ("no suffix", "SBGame|~|", "record name"),
        ("an unknown type", "SBDice|~|1", "SBDice"),
        ("a type in lower case", "sbgame|~|1", "sbgame"),
        ("256 bytes", "SBGame|~|" + String(repeating: "x", count: 247), "255"),
        ("not ASCII", "SBGame|~|ü", "ASCII"),
        ("a control character", "SBGame|~|a\nb", "ASCII"),
    ])
    func whatIsNoRecordNameIsRefused(what: String, name: String, part: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let before = try kitchen.contents()
            for command in [["show", name], ["delete", name, "--yes"], ["delete", name, "--dry-run"]] {
                let outcome = try await kitchen.scene.run(
                    ["record"] + command + ["--store", kitchen.store.path])
                #expect(outcome.isSentence(65), "\(what): \(outcome)")
                #expect(outcome.errors.contains(part), "\(what): \(outcome)")
            }
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func aNameOf255BytesIsFine() async throws {
        try await withPair { kitchen, study in
            let name = "SBGame|~|" + String(repeating: "x", count: 246)
            try kitchen.write("INSERT INTO SBGame (recordName, name) VALUES (?, 'Long')", [name])
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT recordName FROM SBGame") == [name])
            #expect(try await study.peer("record", "show", name).contains("Long"))
        }
    }

    @Test(arguments: ["SBGame", "SBPerson|~|1", "SBGame|~|", "SBGame|~|ü", "1"])
    func theTablesRefuseIt(name: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            #expect(throws: (any Error).self) {
                try kitchen.write("INSERT INTO SBGame (recordName) VALUES (?)", [name])
            }
        }
    }

    @Test func aNameThatNobodyHasIsNotFound() async throws {
        try await withMachine { kitchen in
            for command in ["show", "delete"] {
                let outcome = try await kitchen.run("record", command, "SBGame|~|1")
                #expect(outcome.isSentence(65))
                #expect(outcome.errors.contains("there is no record SBGame|~|1"))
            }
        }
    }
}
