import Testing

/// Who is not paired gets nothing but a sentence that says how to pair.
@Suite(.takingTurns) struct RefusalTests {
    @Test(arguments: [true, false])
    func aStrangerIsRefused(once: Bool) async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            let process = try study.start(["connect", listener.address] + (once ? ["--once"] : []))
            let outcome = try await process.outcome()
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("the two machines are not paired"))
            #expect(outcome.errors.contains("scorebook-peer pair"))
            let event = try await listener.process.event("refused")
            #expect(event.reason?.contains("not paired") == true)
            #expect(try study.rows("SELECT * FROM SBGame").isEmpty)
            #expect(try await study.status().peers.isEmpty)
            #expect(try await kitchen.status().peers.isEmpty)
        }
    }

    @Test func aStrangerIsRefusedWhileACodeIsShown() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            let outcome = try await study.run("connect", listener.address, "--once")
            #expect(outcome.isSentence(77))
            // That was no attempt at the code.
            for number in 1...2 {
                _ = try await study.run(
                    "connect", listener.address, "--once", "--code", try listener.wrongCode(number))
            }
            try await study.peer("connect", listener.address, "--once", "--code", #require(listener.code))
        }
    }

    @Test(arguments: [true, false])
    func whoIsForgottenIsRefused(byTheListener: Bool) async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            let (forgetting, forgotten) = byTheListener ? (kitchen, study) : (study, kitchen)
            #expect(
                try await forgetting.peer("peers", "forget", forgotten.name) == "forgot \(forgotten.name)\n")
            #expect(try await forgetting.status().peers.isEmpty)
            #expect(try await forgotten.status().peers.count == 1)
            try await kitchen.addGame("Hearts")
            let listener = try await kitchen.listen()
            let outcome = try await study.run("connect", listener.address, "--once")
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("scorebook-peer pair"))
            // What was received stays, and nothing is added to it.
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }

    @Test func whoIsForgottenWhileConnectedIsCutOff() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await kitchen.peer("peers", "forget", "study")
            try await kitchen.addGame("Secret")
            #expect(try await connection.end() == 77)
            #expect(try study.rows("SELECT * FROM SBGame").isEmpty)
        }
    }

    @Test func theForgottenMayPairAgain() async throws {
        try await withPair { kitchen, study in
            try await kitchen.peer("peers", "forget", "study")
            try await study.peer("peers", "forget", "kitchen")
            try await kitchen.addGame("Catan")
            try await study.pair(with: kitchen)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }

    @Test func aPeerCanBeRenamed() async throws {
        try await withPair { kitchen, study in
            try await study.peer("peers", "rename", "kitchen", "the big one")
            #expect(try await study.status().peers.map(\.name) == ["the big one"])
            #expect(try await study.peer("peers").contains("the big one"))
            #expect(try await kitchen.status().peers.map(\.name) == ["study"])
            let listener = try await kitchen.listen()
            let output = try await study.peer("connect", listener.address, "--once")
            #expect(output.contains("in sync with the big one: "))
            // The beginning of its key names it as well.
            let key = try #require(try await study.status().peers.first?.key)
            try await study.peer("peers", "forget", String(key.prefix(8)))
            #expect(try await study.status().peers.isEmpty)
        }
    }

    @Test func aPeerThatIsNotThereCannotBeRenamedOrForgotten() async throws {
        try await withPair { kitchen, _ in
            let forgotten = try await kitchen.run("peers", "forget", "attic")
            #expect(forgotten.isSentence(65) && forgotten.errors.contains("attic"))
            let renamed = try await kitchen.run("peers", "rename", "attic", "cellar")
            #expect(renamed.isSentence(65) && renamed.errors.contains("attic"))
            #expect(try await kitchen.run("peers", "rename", "study", "").exitCode == 64)
            #expect(try await kitchen.status().peers.map(\.name) == ["study"])
        }
    }

    @Test func aMachineDoesNotPairWithItself() async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen(pair: true)
            let outcome = try await kitchen.run(
                "connect", listener.address, "--once", "--code", try #require(listener.code))
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("same identity"))
            #expect(try await kitchen.status().peers.isEmpty)
        }
    }
}
