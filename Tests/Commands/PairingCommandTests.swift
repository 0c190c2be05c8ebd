import Foundation
import TestSupport
import Testing

/// A code that one machine shows and the other types makes them know each other for good.
@Suite(.takingTurns) struct PairingCommandTests {
    @Test func theCodePairsAndSyncs() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.peer("game", "add", "Catan")
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            #expect(code.wholeMatch(of: /[0-9]{3}-[0-9]{3}/) != nil)
            let output = try await study.peer(
                "connect", listener.address, "--code", code, "--once", "--name", "study")
            #expect(output.hasPrefix("paired with kitchen\n"))
            #expect(output.contains("\nin sync with kitchen: "))
            #expect(try await listener.process.event("paired").peer == "study")
            try await listener.stop()
            #expect(try await kitchen.digest() == study.digest())
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
            #expect(try await kitchen.status().peers.map(\.name) == ["study"])
            #expect(try await study.status().peers.map(\.name) == ["kitchen"])
        }
    }

    /// What this machine itself is called is no name for another one.
    @Test func twoMachinesOfOneNameAreToldApart() async throws {
        try await withTwoMachines { kitchen, study in
            let process = try kitchen.start(["pair", "--port", "0", "--name", "study"])
            let text = try await process.output(matching: /add: --with .*\n/)
            let code = try #require(text.firstMatch(of: /code ([0-9]{3}-[0-9]{3})/)).1
            let port = try #require(text.firstMatch(of: /--with .*:([0-9]+)/)).1
            try await study.peer("pair", String(code), "--with", "127.0.0.1:\(port)", "--name", "study")
            for machine in [kitchen, study] {
                #expect(try await machine.status().peers.map(\.name) == ["study 2"])
            }
            let household = try await study.peer("peers", "household")
            #expect(household.contains("\nthis machine "), "\(household)")
            #expect(household.ranges(of: "\nstudy 2 ").count == 1, "\(household)")
        }
    }

    @Test func theListenerTellsPeopleTheCodeAndHowToUseIt() async throws {
        try await withMachine { kitchen in
            let process = try kitchen.start(["listen", "--host", "127.0.0.1", "--port", "0", "--pair"])
            let text = try await process.output(
                matching: /connect 127\.0\.0\.1:[0-9]+ --code [0-9]{3}-[0-9]{3}\n/)
            #expect(text.firstMatch(of: /listening on 127\.0\.0\.1:[0-9]+\n/) != nil)
            let code = try #require(text.firstMatch(of: /pairing code ([0-9]{3}-[0-9]{3})\b/)?.output.1)
            #expect(text.contains("--code \(code)\n"))
        }
    }

    @Test func laterBothDirectionsNeedNoCode() async throws {
        try await withPair { kitchen, study in
            for round in 1...2 {
                try await kitchen.peer("game", "add", "Game \(round) of the kitchen")
                try await study.peer("game", "add", "Game \(round) of the study")
                #expect(try await study.sync(with: kitchen).records == round * 4 - 2)
                try await study.peer("person", "add", "Person \(round)")
                try await kitchen.peer("person", "add", "Guest \(round)")
                #expect(try await kitchen.sync(with: study).records == round * 4)
                #expect(try await kitchen.digest() == study.digest())
            }
        }
    }

    @Test func theCodeMayBeTypedWithoutItsHyphen() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code).filter { $0 != "-" }
            try await study.peer("connect", listener.address, "--once", "--code", code)
            #expect(try await kitchen.status().peers.count == 1)
        }
    }

    /// What stands on a command line can be read by other users of the computer.
    @Test(arguments: [["pair", "-", "--with"], ["connect", "--once", "--code", "-"]])
    func aCodeCanBeTypedWhereNobodyElseReadsIt(command: [String]) async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            let terminal = try PseudoTerminal()
            let caller = try study.start(command + [listener.address], at: terminal)
            try await eventually("the question") { caller.errors.contains("The code that the other machine") }
            try terminal.type(#require(listener.code))
            #expect(try await caller.end() == 0, "\(caller)")
            #expect(try await kitchen.status().peers.count == 1)
        }
    }

    @Test func whereNobodyCanBeAskedTheCodeIsALineOfStandardInput() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            let call = [
                PeerProcess.program.path, "pair", "-", "--with", listener.address, "--no-discovery",
                "--store", study.store.path, "--new",
            ]
            let pipe = #"printf '%s\n' "$0" | "$@""#
            let outcome = try await study.scene.start(
                ["-c", pipe, #require(listener.code)] + call, of: URL(fileURLWithPath: "/bin/sh")
            ).outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try await kitchen.status().peers.count == 1)
            // Here standard input is at its end.
            let missing = try await study.run("pair", "-", "--with", listener.address)
            #expect(missing.isSentence(65) && missing.errors.contains("no code was typed"), "\(missing)")
        }
    }

    @Test func aCodeThatIsNotNeededDoesNoHarm() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.peer("connect", listener.address, "--once", "--code", "123-456")
            #expect(try await study.status().peers.count == 1)
        }
    }

    /// Who shows a code anew has other rights in mind.
    @Test func pairingAnewSetsTheRightsThatAreShown() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let desk = try kitchen.start(["pair", "--json", "--read-only"])
            let code = try #require(try await desk.event("pairingCode").code)
            try await study.peer("pair", code, "--with", listener.address)
            #expect(try await desk.end() == 0)
            try await study.addGame("Catan")
            try await study.peer("connect", listener.address, "--once")
            #expect(try kitchen.rows("SELECT name FROM SBGame").isEmpty)
            // The same code once more finds nobody who shows one, and syncs.
            try await study.peer("pair", code, "--with", listener.address)
        }
    }

    @Test func aWrongCodeFailsOnBothSides() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.peer("game", "add", "Catan")
            let listener = try await kitchen.listen(pair: true)
            let outcome = try await study.run(
                "connect", listener.address, "--once", "--code", try listener.wrongCode())
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("the pairing code is wrong; 2 attempts are left"))
            let event = try await listener.process.event("pairingFailed")
            #expect(event.attemptsLeft == 2)
            #expect(try await kitchen.status().peers.isEmpty)
            #expect(try await study.status().peers.isEmpty)
            #expect(try study.rows("SELECT * FROM SBGame").isEmpty)
        }
    }

    @Test func theListenerTellsPeopleOfAWrongCode() async throws {
        try await withTwoMachines { kitchen, study in
            let process = try kitchen.start(["listen", "--host", "127.0.0.1", "--port", "0", "--pair"])
            let text = try await process.output(
                matching: /connect 127\.0\.0\.1:[0-9]+ --code [0-9]{3}-[0-9]{3}\n/)
            let port = try #require(text.firstMatch(of: /listening on 127\.0\.0\.1:([0-9]+)/)?.output.1)
            let code = try #require(text.firstMatch(of: /--code ([0-9]{3})-/)?.output.1)
            let wrong = code == "111" ? "222-222" : "111-111"
            _ = try await study.run("connect", "127.0.0.1:\(port)", "--once", "--code", wrong)
            _ = try await process.output(
                matching: /pairing with 127\.0\.0\.1 failed: wrong code .*2 attempts left\n/)
        }
    }

    /// Another program listens, and takes the attempts. Whoever looks at the code hears of them, too.
    @Test func whoShowsACodeBesideAListenerHearsOfAWrongOne() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen()
            let desk = try kitchen.start(["pair", "--json"])
            let code = try #require(try await desk.event("pairingCode").code)
            let wrong = code == "111-111" ? "222-222" : "111-111"
            #expect(try await study.run("pair", wrong, "--with", listener.address).isSentence(77))
            #expect(try await desk.event("pairingFailed").attemptsLeft == 2)
            try await study.peer("pair", code, "--with", listener.address)
            #expect(try await desk.outcome().exitCode == 0)
            // The attempt that succeeded is none that failed.
            #expect(try desk.events("pairingFailed").count == 1)
        }
    }

    @Test func twoWrongCodesLeaveOneAttempt() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            for number in 1...2 {
                let wrong = try listener.wrongCode(number)
                #expect(
                    try await study.run("connect", listener.address, "--once", "--code", wrong).exitCode == 77
                )
            }
            try await study.peer("connect", listener.address, "--once", "--code", #require(listener.code))
        }
    }

    @Test func threeWrongCodesUseTheCodeUp() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            for number in 1...3 {
                let wrong = try listener.wrongCode(number)
                let outcome = try await study.run("connect", listener.address, "--once", "--code", wrong)
                #expect(outcome.isSentence(77))
                let event = try await listener.process.event("pairingFailed", count: number)
                #expect(event.attemptsLeft == 3 - number)
            }
            let right = try #require(listener.code)
            let outcome = try await study.run("connect", listener.address, "--once", "--code", right)
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("no pairing code is valid there"))
            #expect(outcome.errors.contains("scorebook-peer pair"))
            #expect(try await study.status().peers.isEmpty)
        }
    }

    /// A program that shows one code and ends remembers, when it runs again, who has failed.
    @Test func whoFailsTooOftenHasToWait() async throws {
        try await withTwoMachines { kitchen, study in
            for wrongCodes in [3, 2] {
                let listener = try await kitchen.listen(pair: true)
                for number in 1...wrongCodes {
                    let wrong = try listener.wrongCode(number)
                    _ = try await study.run("connect", listener.address, "--once", "--code", wrong)
                }
                try await listener.process.event("pairingFailed", count: wrongCodes)
                try await listener.stop()
            }
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            let outcome = try await study.run("connect", listener.address, "--once", "--code", code)
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("too many attempts to pair from 127.0.0.1 did not succeed"))
            let event = try await listener.process.event("refused")
            #expect(event.reason?.contains("too many attempts to pair from 127.0.0.1") == true)
            #expect(try listener.process.events("pairingFailed").isEmpty)
            try await listener.stop()
            #expect(try await kitchen.status().peers.isEmpty)
            try await study.pair(with: kitchen.shifted(by: "+11m"))
        }
    }

    @Test func aCodePairsOneMachineOnly() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            try await study.peer("connect", listener.address, "--once", "--code", code)
            let outcome = try await attic.run("connect", listener.address, "--once", "--code", code)
            #expect(outcome.isSentence(77))
            #expect(try await kitchen.status().peers.count == 1)
        }
    }

    @Test func aCodeIsRefusedWhereNoneIsShown() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen()
            let outcome = try await study.run("connect", listener.address, "--once", "--code", "123-456")
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("scorebook-peer pair"))
            #expect(try await kitchen.status().peers.isEmpty)
        }
    }

    @Test(arguments: ["", "12345", "1234567", "12-3456", "abc-def", "-123456", "123 456", "１２３-４５６"])
    func whatIsNoCodeIsAUsageError(code: String) async throws {
        try await withMachine { study in
            for command in [["connect", "127.0.0.1:1", "--once", "--code=\(code)"], ["pair", "--", code]] {
                let outcome = try await study.start(command).outcome()
                #expect(outcome.isSentence(64), "\(outcome)")
                let isMissing = outcome.errors.contains("missing value for '--code <NNN-NNN>'")
                #expect(
                    code.isEmpty && isMissing
                        || outcome.errors.contains("a pairing code has six digits, as 066-228"), "\(outcome)")
            }
            // It was read before anything else.
            #expect(!FileManager.default.fileExists(atPath: study.store.path))
        }
    }

    @Test func aTextOfAQRCodeThatIsCutOff() async throws {
        try await withMachine { study in
            let outcome = try await study.run("pair", "peer-sync:pair?v=1&app=scorebook&code=066")
            #expect(outcome.isSentence(64) && outcome.errors.contains("not the whole text"), "\(outcome)")
        }
    }

    @Test func machinesOfOneNameAreToldApart() async throws {
        try await withScene { scene in
            let kitchen = scene.machine("kitchen")
            for number in 1...2 {
                let listener = try await kitchen.listen(pair: true)
                let laptop = scene.machine("laptop \(number)")
                try await laptop.peer(
                    "connect", listener.address, "--once", "--code", #require(listener.code),
                    "--name", "laptop")
                try await listener.stop()
            }
            let peers = try await kitchen.status().peers
            #expect(Set(peers.map(\.name)).count == 2)
            #expect(peers.allSatisfy { $0.name.hasPrefix("laptop") })
            #expect(Set(peers.map(\.key)).count == 2)
        }
    }
}
