import Testing

/// An error says what helps: a command that people can run as it stands.
@Suite(.takingTurns) struct HintTests {
    @Test(arguments: [
        (["zone", "rename", "club", "Club"], "`zone list` shows"),
        (["game", "list", "--zone", "club"], "`zone list` shows"),
        (["peers", "forget", "attic"], "`peers` lists"),
        (["peers", "grant", "attic", "ScorebookData", "read"], "`peers` lists"),
    ])
    func whatIsNotThereIsToBeLookedUp(arguments: [String], hint: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            let outcome = try await kitchen.start(arguments).outcome()
            #expect(outcome.isSentence(65) && outcome.errors.contains(hint), "\(outcome)")
        }
    }

    @Test func whoSharesNothingIsToldHowToShare() async throws {
        try await withPair { kitchen, study in
            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "none")
            let listener = try await kitchen.listen()
            let outcome = try await study.run("connect", listener.address, "--once")
            #expect(outcome.exitCode == 77, "\(outcome)")
            #expect(outcome.errors.contains("`scorebook-peer peers grant NAME ZONE write`"), "\(outcome)")
        }
    }
}
