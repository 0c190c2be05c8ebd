import Foundation
import TestSupport
import Testing

/// Scorebooks that meet for the first time, machines that leave, and those that start over.
@Suite(.takingTurns) struct MeetingTests {
    /// Two machines with games of their own that have never met, and a listener on the first.
    private func withStrangers(
        _ body: (Machine, Machine, Listener) async throws -> Void
    ) async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.addGame("Catan")
            try await kitchen.addGame("Azul")
            try await study.addGame("Scythe")
            try await body(kitchen, study, try await kitchen.listen(pair: true))
        }
    }

    private func games(_ machine: Machine) throws -> [String] {
        try machine.rows("SELECT name FROM SBGame ORDER BY name")
    }

    private func connect(_ machine: Machine, _ listener: Listener, _ more: String...) throws -> PeerProcess {
        try machine.start(
            ["connect", listener.address, "--code", listener.code ?? "", "--once", "--name", machine.name]
                + more)
    }

    /// Listens with somebody at the terminal.
    private func listenAtTerminal(
        _ machine: Machine
    ) async throws -> (terminal: PseudoTerminal, process: PeerProcess, address: String) {
        let terminal = try PseudoTerminal()
        let process = try machine.start(["listen", "--host", "127.0.0.1", "--port", "0"], at: terminal)
        let output = try await process.output(matching: /listening on 127.0.0.1:[0-9]+/)
        return (terminal, process, String(try #require(output.firstMatch(of: /127.0.0.1:[0-9]+/)).0))
    }

    private func backups(_ machine: Machine) -> [String] {
        (try? FileManager.default.contentsOfDirectory(
            atPath: machine.store.appendingPathComponent("backups").path)) ?? []
    }

    private func zones(_ machine: Machine) throws -> [String] {
        try machine.rows("SELECT zoneName || '@' || owner FROM grdb_sync_recordZone ORDER BY id")
    }

    // MARK: First meetings

    @Test func aMachineAloneJustWorks() async throws {
        try await withMachine { kitchen in
            let added = try await kitchen.run("game", "add", "Catan")
            #expect(added.exitCode == 0 && added.errors.isEmpty)
            let status = try await kitchen.run("status")
            #expect(status.exitCode == 0 && status.errors.isEmpty)
            #expect(!status.output.contains("pair"))
        }
    }

    @Test(arguments: [[], ["--merge"]])
    func withoutATerminalTwoScorebooksBecomeOne(flags: [String]) async throws {
        try await withStrangers { kitchen, study, listener in
            let outcome = try await study.start(
                ["connect", listener.address, "--code", listener.code ?? "", "--once"] + flags
            ).outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try games(kitchen) == ["Azul", "Catan", "Scythe"])
            #expect(try games(study) == games(kitchen))
            #expect(try zones(study) == zones(kitchen))
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(backups(kitchen).isEmpty && backups(study).isEmpty)
        }
    }

    /// Whoever connects, both choose the same zone.
    @Test func theZoneDoesNotDependOnWhoConnects() async throws {
        try await withScene { scene in
            let first = scene.machine("first")
            let second = scene.machine("second")
            for machine in [first, second] { try await machine.addGame("Game of \(machine.name)") }
            let copies = [first, second].map { machine in
                (machine, scene.machine("\(machine.name)-copy"))
            }
            for (machine, copy) in copies {
                try FileManager.default.copyItem(at: machine.store, to: copy.store)
            }
            try await second.pair(with: first)
            try await copies[0].1.pair(with: copies[1].1)
            #expect(try zones(first) == zones(second))
            #expect(try zones(first) == zones(copies[0].1))
            #expect(try zones(first) == zones(copies[1].1))
        }
    }

    @Test func takingTheirsLeavesABackupOfOurs() async throws {
        try await withStrangers { kitchen, study, listener in
            let before = try await study.digest()
            let outcome = try await connect(study, listener, "--take-theirs").outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try games(study) == ["Azul", "Catan"])
            #expect(try games(kitchen) == ["Azul", "Catan"])
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(backups(study).count == 1)
            let backup = study.store.appendingPathComponent("backups/\(backups(study)[0])")
            let mode = try FileManager.default.attributesOfItem(atPath: backup.path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            // The backup is a scorebook, as it was.
            let old = study.scene.machine("old")
            try FileManager.default.createDirectory(at: old.store, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: backup, to: old.databaseFile)
            #expect(try games(old) == ["Scythe"])
            try await old.peer("identity", "renew", "--yes")
            #expect(try await old.digest() == before)
        }
    }

    /// A connection that is made again does not replace a second time what was written since.
    @Test func takingTheirsHappensOnce() async throws {
        try await withStrangers { kitchen, study, listener in
            let caller = try study.start(
                ["connect", listener.address, "--code", listener.code ?? "", "--take-theirs", "--json"])
            try await caller.event("inSync")
            try await listener.stop()
            try await study.addGame("Since")
            let again = try await kitchen.listen(port: listener.port)
            try await caller.event("connected", count: 2)
            try await eventually("the game") { try games(kitchen).contains("Since") }
            #expect(try games(study) == ["Azul", "Catan", "Since"])
            #expect(backups(study).count == 1)
            try await again.stop()
        }
    }

    @Test func takingOursNeedsTheOtherUser() async throws {
        try await withStrangers { kitchen, study, listener in
            let refused = try await connect(study, listener, "--take-ours").outcome()
            #expect(refused.exitCode == 77, "\(refused)")
            #expect(refused.errors.contains("--allow-reset"))
            #expect(try games(kitchen) == ["Azul", "Catan"])
            #expect(try games(study) == ["Scythe"])
            try await listener.stop()
            let willing = try await kitchen.listen(extra: ["--allow-reset"])
            try await study.peer("connect", willing.address, "--once", "--take-ours")
            #expect(try games(kitchen) == ["Scythe"])
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(backups(kitchen).count == 1 && backups(study).isEmpty)
        }
    }

    @Test(arguments: [
        ("m", ["Azul", "Catan", "Scythe"], 0), ("take theirs", ["Azul", "Catan"], 0), ("c", ["Scythe"], 77),
        ("mistake\nM", ["Azul", "Catan", "Scythe"], 0), ("CANCEL", ["Scythe"], 77),
    ])
    func onATerminalOneIsAsked(answer: String, games expected: [String], exitCode: Int32) async throws {
        try await withStrangers { kitchen, study, listener in
            let terminal = try PseudoTerminal()
            let caller = try study.start(
                ["connect", listener.address, "--code", listener.code ?? "", "--once"], at: terminal)
            try await eventually("the question") { caller.errors.contains("[c]ancel?") }
            #expect(caller.errors.contains("This machine has a scorebook with 1 record;"))
            #expect(caller.errors.contains("has a scorebook with 2 records."))
            #expect(try games(study) == ["Scythe"])
            for (number, line) in answer.split(separator: "\n").enumerated() {
                try await eventually("the question") {
                    caller.errors.ranges(of: "[c]ancel?").count == number + 1
                }
                try terminal.type(String(line))
            }
            #expect(try await caller.end() == exitCode, "\(caller)")
            #expect(try games(study) == expected)
        }
    }

    @Test func theUserOfTheOtherMachineIsAskedToo() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.addGame("Scythe")
            try await study.pair(with: kitchen)
            try await kitchen.addGame("Azul")
            for (answer, count) in [("n", 3), ("y", 2)] {
                let (terminal, process, address) = try await listenAtTerminal(kitchen)
                let caller = try study.start(["reset", "--to", address])
                try await eventually("the question") { process.errors.contains("Allow it?") }
                try terminal.type(answer)
                #expect(try await caller.end() == (answer == "y" ? 0 : 77), "\(caller)")
                #expect(try games(kitchen).count == count)
                process.signal(SIGINT)
                _ = try await process.end()
            }
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    /// An answer that comes when nobody waits for it any more changes nothing.
    @Test func aQuestionIsTakenBackWhenItsMachineGoes() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.pair(with: kitchen)
            try await study.addGame("Scythe")
            let (terminal, process, address) = try await listenAtTerminal(kitchen)
            let caller = try study.start(["reset", "--to", address])
            try await eventually("the question") { process.errors.contains("Allow it?") }
            caller.signal(SIGKILL)
            try await eventually("that it is taken back") { process.errors.contains("taken back") }
            try terminal.type("y")
            try await study.peer("connect", address, "--once")
            #expect(try games(kitchen) == ["Catan", "Scythe"])
            #expect(backups(kitchen).isEmpty)
            process.signal(SIGINT)
            #expect(try await process.end() == 0)
        }
    }

    /// A question that nobody answers does not keep the program from ending.
    @Test func aQuestionDoesNotOutliveTheProgram() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let (terminal, process, address) = try await listenAtTerminal(kitchen)
            let caller = try study.start(["reset", "--to", address])
            try await eventually("the question") { process.errors.contains("Allow it?") }
            process.signal(SIGTERM)
            #expect(try await process.end() == 0)
            #expect(try await caller.end() != 0)
            #expect(try games(kitchen) == ["Catan"])
            // Nobody hung up before.
            withExtendedLifetime(terminal) {}
        }
    }

    @Test func aSharedScorebookIsNotMixedWithAnother() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            try await kitchen.addGame("Catan")
            try await study.pair(with: kitchen)
            try await attic.addGame("Scythe")
            let listener = try await kitchen.listen(pair: true)
            let refused = try await connect(attic, listener).outcome()
            #expect(refused.exitCode == 77, "\(refused)")
            #expect(try games(kitchen) == ["Catan"])
            #expect(try games(attic) == ["Scythe"])
            // Nor does the one that comes decide for the others.
            let alone = try await attic.run("connect", listener.address, "--once", "--merge")
            #expect(alone.exitCode == 77, "\(alone)")
            #expect(try games(kitchen) == ["Catan"])
            listener.process.signal(2)
            #expect(try await listener.process.end() == 0)
            let willing = try await kitchen.listen(extra: ["--merge"])
            try await attic.peer("connect", willing.address, "--once", "--merge")
            #expect(try games(kitchen) == ["Catan", "Scythe"])
            #expect(try zones(attic) == zones(kitchen))
        }
    }

    /// What a machine that may only read has to give is refused, so nothing is given up for it.
    @Test func nothingIsReplacedByWhatIsRefused() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await study.peer("peers", "grant", "kitchen", "ScorebookData", "read")
            let listener = try await kitchen.listen(extra: ["--allow-reset"])
            let from = try await study.run("reset", "--from", listener.address, "--yes")
            #expect(from.isSentence(77), "\(from)")
            #expect(try games(study) == ["Catan"])
            try await study.peer("peers", "grant", "kitchen", "ScorebookData", "write")
            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "read")
            let to = try await study.run("reset", "--to", listener.address)
            #expect(to.isSentence(77) && to.errors.contains("peers grant NAME ZONE RIGHTS`"), "\(to)")
            #expect(try games(kitchen) == ["Catan"])
            #expect(backups(study).isEmpty && backups(kitchen).isEmpty)
        }
    }

    @Test func anEmptyScorebookIsNoQuestion() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen(pair: true)
            let terminal = try PseudoTerminal()
            let caller = try study.start(
                ["connect", listener.address, "--code", listener.code ?? "", "--once"], at: terminal)
            #expect(try await caller.end() == 0, "\(caller)")
            #expect(try games(study) == ["Catan"])
        }
    }

    // MARK: Another household

    /// Two households of two machines each; the last one of the first then meets the first one of the second.
    private func withHouseholds(
        _ body: (_ ours: Machine, _ theirs: Machine) async throws -> Void
    ) async throws {
        try await withScene { scene in
            let machines = ["a", "b", "c", "d"].map(scene.machine)
            for machine in machines { try await machine.addGame("Game of \(machine.name)") }
            try await machines[1].pair(with: machines[0])
            try await machines[3].pair(with: machines[2])
            try await body(machines[1], machines[2])
        }
    }

    @Test func differentScorebooksAreNotMixed() async throws {
        try await withHouseholds { ours, theirs in
            let before = (try ours.contents(), try theirs.contents())
            let listener = try await theirs.listen(pair: true)
            let refused = try await connect(ours, listener).outcome()
            #expect(refused.exitCode == 77)
            #expect(refused.errors.contains("the two scorebooks are different ones"), "\(refused)")
            #expect(
                refused.errors.contains("2 records on the machine that connected and 2 records on the other"))
            for choice in ["`connect c --beside`", "`listen --merge`", "--store"] {
                #expect(refused.errors.contains(choice))
            }
            #expect(try ours.contents() == before.0)
            #expect(try theirs.contents() == before.1)
            // Nor does one of the two decide for both.
            let alone = try await ours.run("connect", listener.address, "--once", "--merge")
            #expect(alone.exitCode == 77)
            #expect(try theirs.contents() == before.1)
        }
    }

    @Test func differentScorebooksMergeWhenBothWant() async throws {
        try await withHouseholds { ours, theirs in
            let listener = try await theirs.listen(pair: true, extra: ["--merge"])
            let outcome = try await connect(ours, listener, "--merge").outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try games(ours).count == 4)
            #expect(try games(theirs) == games(ours))
            #expect(try zones(ours) == zones(theirs))
            #expect(try await haveEqualDigests(ours, theirs))
        }
    }

    @Test func aScorebookBesideAnotherStaysApart() async throws {
        try await withHouseholds { ours, theirs in
            let listener = try await theirs.listen(pair: true)
            let digest = try await ours.digest()
            let outcome = try await connect(ours, listener, "--beside").outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try games(ours).count == 4)
            #expect(try games(theirs).count == 2)
            #expect(try zones(ours).count == 2)
            #expect(try zones(theirs).count == 1)
            #expect(try await ours.digest() == digest)
            // From then on nobody has to say it any more, and what is written on either side goes where it belongs.
            try await ours.addGame("Ours alone")
            try await theirs.addGame("For both")
            try await ours.peer("connect", listener.address, "--once")
            #expect(try games(ours).count == 6)
            #expect(try games(theirs).count == 3)
            // Who gives up the scorebook that is not shared would give up nothing.
            let reset = try await ours.run("reset", "--from", listener.address, "--yes")
            #expect(reset.isSentence(77) && reset.errors.contains("`zone delete ZONE --yes`"), "\(reset)")
            #expect(try games(ours).count == 6)
        }
    }

    @Test func whatIsBesideAnotherCanBeMetAnew() async throws {
        try await withHouseholds { ours, theirs in
            let listener = try await theirs.listen(pair: true)
            #expect(try await connect(ours, listener, "--beside").outcome().exitCode == 0)
            let dropped = try await ours.peer("connect", listener.address, "--once", "--merge")
            #expect(dropped.contains("do not share their scorebooks"), "\(dropped)")
            try await ours.peer("peers", "grant", "c", "ScorebookData", "write")
            let refused = try await ours.run("connect", listener.address, "--once", "--take-theirs")
            #expect(refused.isSentence(77), "\(refused)")
            #expect(refused.errors.contains("“ScorebookData 2” is beside"), "\(refused)")
            #expect(refused.errors.contains("peers revoke HOST 'ScorebookData 2'`"), "\(refused)")
            let reset = try await ours.run("reset", "--from", listener.address, "--yes")
            #expect(reset.errors.contains("peers revoke HOST 'ScorebookData 2'`"), "\(reset)")
            // There, these commands would delete the scorebook of the other user.
            try await eventually("the listener's word") {
                try listener.process.events("disconnected").contains {
                    $0.reason?.hasSuffix("nothing has changed") == true
                }
            }
            #expect(!listener.process.output.contains("peers revoke"))
            try await listener.stop()

            try await ours.peer("peers", "revoke", "c", "ScorebookData 2")
            try await ours.peer("zone", "delete", "ScorebookData 2", "--yes")
            try await ours.peer("peers", "forget", "c")
            let again = try await theirs.listen(pair: true)
            let outcome = try await connect(ours, again, "--take-theirs").outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try games(ours) == games(theirs))
            #expect(try await haveEqualDigests(ours, theirs))
        }
    }

    // MARK: Leaving

    @Test(arguments: [true, false])
    func forgettingEndsASessionAtOnce(byTheListener: Bool) async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let caller = try await study.connect(to: listener)
            try await caller.event("inSync")
            let (forgetting, forgotten) = byTheListener ? (kitchen, study) : (study, kitchen)
            try await forgetting.peer("peers", "forget", forgotten.name)
            try await eventually("the end of the session") {
                try caller.events("disconnected").count == 1
            }
            try await kitchen.addGame("Later")
            let outcome = try await study.run("connect", listener.address, "--once")
            #expect(outcome.exitCode == 77)
            #expect(try games(study).isEmpty)
        }
    }

    @Test func aMachineThatLeavesErasesWhatItHad() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            try kitchen.addPictures(2, bytes: 1000)
            try await study.sync(with: kitchen)
            #expect(try study.pictureFiles().count == 2)
            let asked = try await study.run("peers", "forget", "kitchen", "--erase")
            #expect(asked.isSentence(64), "\(asked)")
            #expect(try await study.status().live > 3000)
            let digest = try await kitchen.digest()
            try await study.peer("peers", "forget", "kitchen", "--erase", "--yes")
            #expect(try await study.status().live == 0)
            #expect(try study.rows("SELECT COUNT(*) FROM grdb_sync_remoteRecord") == ["0"])
            #expect(try study.contents().values.allSatisfy(\.isEmpty))
            #expect(try study.pictureFiles().isEmpty)
            #expect(try study.isSound())
            // The others keep it, and nothing is deleted there when the machine comes back one day.
            #expect(try await kitchen.digest() == digest)
            try await study.pair(with: kitchen)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await kitchen.digest() == digest)
        }
    }

    @Test func whatOthersShareIsNotErased() async throws {
        try await withScene { scene in
            let (a, b, c) = (scene.machine("a"), scene.machine("b"), scene.machine("c"))
            try await a.addGame("Catan")
            try await b.pair(with: a)
            try await c.pair(with: b)
            let refused = try await b.run("peers", "forget", "a", "--erase", "--yes")
            #expect(refused.isSentence(65), "\(refused)")
            #expect(refused.errors.contains("shared with c") && refused.errors.contains("peers forget`"))
            #expect(try await b.status().peers.count == 2)
            #expect(try games(b) == ["Catan"])
        }
    }

    // MARK: Two that are one

    @Test func whatIsOneIsNotGivenUpByAFlagForMeetings() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.addGame("Ours")
            let listener = try await kitchen.listen()
            let said = try await study.peer("connect", listener.address, "--once", "--take-theirs")
            #expect(said.contains("are one already"), "\(said)")
            #expect(said.contains("`scorebook-peer reset --from kitchen`"), "\(said)")
            let figures = try await study.json(
                SyncFigures.self, "connect", listener.address, "--once", "--take-theirs")
            #expect(figures.union == "passedOver" && figures.backup == nil)
            #expect(try games(study) == ["Catan", "Ours"])
            #expect(backups(study).isEmpty)
        }
    }

    /// A hint must not tell somebody to give up what the flag was to keep.
    @Test(arguments: [("--take-ours", "reset --to kitchen`"), ("--merge", ""), ("--beside", "")])
    func whatWouldReplaceTheOtherIsNamedOnlyWhereItWasWanted(flag: String, command: String) async throws {
        try await withPair { kitchen, study in
            try await study.addGame("Ours")
            let listener = try await kitchen.listen()
            let said = try await study.peer("connect", listener.address, "--once", flag)
            #expect(said.contains("are one already") && !said.contains("reset --from"), "\(said)")
            #expect(said.contains(command.isEmpty ? "brought together\n" : command), "\(said)")
            #expect(said.contains("reset --") == !command.isEmpty, "\(said)")
            #expect(try games(study) == ["Ours"])
        }
    }

    @Test func whoPairsHearsWhereTheBackupIs() async throws {
        try await withStrangers { _, study, listener in
            let code = try #require(listener.code)
            let said = try await study.peer(
                "pair", code, "--with", listener.address, "--take-theirs", "--name", study.name)
            #expect(backups(study).count == 1)
            #expect(said.contains(try #require(backups(study).first)), "\(said)")
        }
    }

    @Test func programsThatPairReadWhereTheBackupIs() async throws {
        try await withStrangers { _, study, listener in
            let code = try #require(listener.code)
            let figures = try await study.json(
                SyncFigures.self, "pair", code, "--with", listener.address, "--take-theirs", "--name",
                study.name)
            #expect(FileManager.default.fileExists(atPath: try #require(figures.backup)))
            #expect(figures.union == nil)
        }
    }

    // MARK: Starting over

    /// A machine that would refuse what it is to get keeps what it has.
    @Test func aResetThatWouldBeRefusedReplacesNothing() async throws {
        try await withPair { kitchen, study in
            try await study.addGame("Ours")
            try await kitchen.shifted(by: "+2h").addGame("From the future")
            let listener = try await kitchen.listen()
            let from = try await study.run("reset", "--from", listener.address, "--yes")
            #expect(from.isSentence(77) && from.errors.contains("nothing was replaced"), "\(from)")
            #expect(from.errors.contains("give both machines the same --allowed-skew"), "\(from)")
            try await listener.stop()
            let willing = try await study.listen(extra: ["--allow-reset"])
            let to = try await kitchen.run("reset", "--to", willing.address)
            #expect(to.isSentence(77) && to.errors.contains("nothing was replaced"), "\(to)")
            #expect(try games(study) == ["Ours"])
            #expect(backups(study).isEmpty)
        }
    }

    /// The kitchen's user lets clocks differ by more than the study's.
    @Test func aResetThatEndsHalfWaySaysWhatIsLeft() async throws {
        try await withPair { kitchen, study in
            try await study.addGame("Ours")
            try await kitchen.shifted(by: "+2h").addGame("From the future")
            let listener = try await kitchen.listen(extra: ["--allowed-skew", "36000"])
            let cut = try await study.run("reset", "--from", listener.address, "--yes")
            #expect(cut.isSentence(77) && cut.errors.contains("this batch was not taken over"), "\(cut)")
            #expect(cut.errors.contains(try #require(backups(study).first)), "\(cut)")
            #expect(cut.errors.contains("`scorebook-peer connect \(listener.address) --once`"), "\(cut)")
            #expect(
                try await study.peer("status").contains("that of kitchen took the place of this scorebook"))
            try await listener.stop()
            try await kitchen.peer("clock", "repair", "--yes")
            try await study.sync(with: kitchen)
            #expect(try games(study) == ["From the future"])
            #expect(try await !study.peer("status").contains("has not sent all"))
        }
    }

    @Test func aScorebookBecomesWhatAnotherHas() async throws {
        try await withHousehold { kitchen, study in
            // Everything went wrong here: much was deleted, some of it synced, and there is rubbish.
            try study.write("DELETE FROM SBScore; DELETE FROM SBPlayer")
            try await study.addGame("Rubbish")
            let listener = try await kitchen.listen()
            let digest = try await kitchen.digest()
            let asked = try await study.run("reset", "--from", listener.address)
            #expect(asked.isSentence(64), "\(asked)")
            let figures = try await study.json(
                ResetFigures.self, "reset", "--from", listener.address, "--yes")
            #expect(figures.sync.digest == digest)
            #expect(try await study.digest() == digest)
            #expect(try await kitchen.digest() == digest)
            #expect(try study.contents() == kitchen.contents())
            let backup = try #require(figures.backup)
            #expect(FileManager.default.fileExists(atPath: backup))
            // By its name, now that it was reached.
            try await study.peer("reset", "--from", "kitchen", "--yes")
            #expect(backups(study).count == 2)
            // And the two go on as before.
            try await study.addGame("After")
            try await study.sync(listener)
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func anotherScorebookBecomesWhatThisOneHas() async throws {
        try await withHousehold { kitchen, study in
            try kitchen.write("DELETE FROM SBMatch")
            try await kitchen.addGame("Rubbish")
            let digest = try await study.digest()
            let unwilling = try await kitchen.listen()
            let refused = try await study.run("reset", "--to", unwilling.address)
            #expect(refused.isSentence(77), "\(refused)")
            #expect(try games(kitchen).contains("Rubbish"))
            try await unwilling.stop()
            let listener = try await kitchen.listen(extra: ["--allow-reset"])
            let figures = try await study.json(ResetFigures.self, "reset", "--to", listener.address)
            #expect(figures.backup == nil)
            #expect(figures.sync.digest == digest)
            #expect(try await kitchen.digest() == digest)
            #expect(try kitchen.contents() == study.contents())
            let event = try await listener.process.event("replaced")
            #expect(FileManager.default.fileExists(atPath: try #require(event.backup)))
        }
    }

    @Test func withoutABackupNothingIsReplaced() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.addGame("Ours")
            // A file is where the directory should be.
            try Data().write(to: study.store.appendingPathComponent("backups"))
            let listener = try await kitchen.listen()
            let outcome = try await study.run("reset", "--from", listener.address, "--yes")
            #expect(outcome.exitCode != 0)
            #expect(outcome.errors.contains("nothing was changed"))
            #expect(try games(study) == ["Ours"])
        }
    }
}

struct ResetFigures: Decodable {
    let backup: String?
    let sync: SyncFigures
}
