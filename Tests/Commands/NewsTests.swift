import Foundation
import TestSupport
import Testing

/// Whoever watches a sync reads in words what changed, and only if they want it what it cost.
@Suite(.takingTurns) struct NewsTests {
    @Test func liveSyncSaysWhatChanged() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let watching = try study.start(["connect", listener.address])
            try await watching.output(matching: /in sync with kitchen\n/)
            try await kitchen.addGame("Hearts")
            try await watching.output(matching: /kitchen: the new game Hearts\n/)
            let match = try await kitchen.addMatch("Hearts", "Grace=3")
            try await watching.output(
                matching: /kitchen: the new match Hearts with Grace, the new person Grace\n/)
            try await kitchen.peer("score", "add", match, "--round", "1", "Grace=5")
            try await watching.output(matching: /kitchen: Grace's score in Hearts\n/)
            try await kitchen.peer("match", "edit", match, "--notes", "Snow.", "--board", "Africa")
            try await watching.output(matching: /kitchen: the board and the notes of Hearts\n/)
            try await kitchen.peer("match", "edit", match, "--add", "Ada", "--new-persons")
            try await watching.output(matching: /kitchen: Ada plays in Hearts, the new person Ada\n/)
            try await study.peer("person", "edit", "Grace", "--name", "Grace Hopper")
            try await watching.output(matching: /sent 1 record to kitchen\n/)
            try await kitchen.peer("game", "delete", "Hearts", "--yes")
            let output = try await watching.output(matching: /kitchen: Hearts deleted\n/)
            try await kitchen.peer("game", "restore")
            try await watching.output(
                matching: /kitchen: the match Hearts is back with Grace Hopper, Ada, Hearts is back\n/)
            try await kitchen.peer("person", "add", "Grace H.")
            try await kitchen.peer("person", "merge", "Grace H.", "Grace Hopper")
            try await watching.output(matching: /kitchen: two persons became one, Grace H\.\n/)
            #expect(!output.contains("SB") && !output.contains("digest"), "\(output)")
            let event = try await listener.process.event("changed")
            #expect(event.peer == "study" && event.records?.count == 1)
        }
    }

    @Test func aFirstSyncIsSummedUp() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            let listener = try await kitchen.listen()
            let first = try await study.peer("connect", listener.address, "--once")
            #expect(
                first.hasSuffix("in sync with kitchen: 400 new matches, 40 new games, 12 new persons\n"),
                "\(first)")
            try await study.addGame("Hearts")
            let second = try await study.peer("connect", listener.address, "--once")
            #expect(second.hasSuffix("in sync with kitchen: sent 1 record\n"), "\(second)")
            let third = try await study.peer("connect", listener.address, "--once")
            #expect(third.hasSuffix("in sync with kitchen: nothing was new\n"), "\(third)")
        }
    }

    @Test func anEditWithEqualValuesChangesNothing() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Hearts")
            let match = try await kitchen.addMatch("Hearts", "Grace=3")
            for (command, title) in [
                (["match", "edit", match, "--notes", "Snow."], "the match Hearts, 20"),
                (["match", "edit", match, "--winner", "grace"], "the match Hearts, 20"),
                (["game", "edit", "Hearts", "--year", "1850"], "Hearts"),
                (["person", "edit", "Grace", "--email", "g@example.org"], "Grace"),
            ] {
                let first = try await kitchen.start(command).outcome().output
                #expect(first.hasPrefix("changed \(title)"), "\(command): \(first)")
                let again = try await kitchen.start(command).outcome().output
                #expect(again.hasPrefix("nothing changed: \(title)"), "\(command): \(again)")
            }
        }
    }

    // MARK: Machines that may only read

    private func withReader(_ body: (Machine, Machine) async throws -> Void) async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Hearts")
            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "read")
            try await study.sync(with: kitchen)
            try await body(kitchen, study)
        }
    }

    @Test func thatAMachineMayOnlyReadIsSaidBefore() async throws {
        try await withReader { kitchen, study in
            let outcome = try await study.run("game", "edit", "Hearts", "--year", "1850")
            #expect(
                outcome.exitCode == 0
                    && outcome.errors.hasPrefix("warning: this machine may only read here: kitchen does not"),
                "\(outcome)")
            for (answer, exitCode, year) in [("n", 75, "1850"), ("y", 0, "1851")] as [(String, Int32, String)]
            {
                let terminal = try PseudoTerminal()
                let edit = try study.start(["game", "edit", "Hearts", "--year", "1851"], at: terminal)
                try await eventually("the question") { edit.errors.contains("all the same") }
                try terminal.type(answer)
                #expect(try await edit.end() == exitCode, "\(edit)")
                #expect(try study.rows("SELECT year FROM SBGame") == [year])
            }
            // Who may write hears nothing, also once that is granted.
            #expect(try await kitchen.run("game", "edit", "Hearts", "--year", "1852").errors.isEmpty)
            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "write")
            try await study.sync(with: kitchen)
            #expect(try await study.run("game", "edit", "Hearts", "--year", "1853").errors.isEmpty)
        }
    }

    /// Nobody would take it; whoever may write does it.
    @Test func whoMayOnlyReadWritesNothingByLooking() async throws {
        try await withReader { kitchen, study in
            let match = try await kitchen.addMatch("Hearts", "Grace=3")
            try await kitchen.addMatch("Hearts", "Grace Hopper")
            let player = try kitchen.rows("SELECT recordName FROM SBPlayer WHERE match = '\(match)'")[0]
            let grace = try kitchen.rows("SELECT recordName FROM SBPerson WHERE lastName IS NULL")[0]
            try await kitchen.peer("person", "merge", grace, "Grace Hopper")
            // As another machine would, that does not know of the merge.
            try kitchen.write("UPDATE SBPlayer SET person = '\(grace)' WHERE recordName = '\(player)'")
            try await study.sync(with: kitchen)
            try await study.peer("person", "list")
            #expect(
                try study.rows("SELECT person FROM SBPlayer WHERE recordName = '\(player)'") == [grace])
            try await kitchen.peer("person", "list")
            try await study.sync(with: kitchen)
            #expect(try study.contents() == kitchen.contents())
            #expect(try await study.status().refused.isEmpty)
        }
    }

    // MARK: A slip in the place of the scorebook

    @Test func aPlaceWithoutAScorebookIsASlip() async throws {
        try await withScene { scene in
            let place = scene.path("slip")
            let terminal = try PseudoTerminal()
            let slip = try scene.start(["person", "add", "Ada", "--store", place], terminal: terminal)
            try await eventually("the question") { slip.errors.contains("Begin a new one there? [y/N]") }
            try terminal.type("n")
            #expect(try await slip.end() == 66, "\(slip)")
            #expect(!FileManager.default.fileExists(atPath: place))
            let script = try await scene.run(["person", "add", "Ada", "--store", place])
            #expect(
                script.exitCode == 0 && script.errors == "note: a new scorebook begins in \(place)\n",
                "\(script)")
            let again = try await scene.run(["person", "add", "Bea", "--store", place])
            #expect(again.exitCode == 0 && again.errors.isEmpty, "\(again)")
            let meant = try await scene.run(["person", "add", "Ada", "--store", scene.path("new"), "--new"])
            #expect(meant.exitCode == 0 && meant.errors.isEmpty, "\(meant)")
        }
    }

    // MARK: Zones

    @Test func aZoneIsUsedAndDeleted() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await kitchen.peer("zone", "create", "club")
            #expect(try await kitchen.peer("zone", "use", "club") == "the zone in use is “club”\n")
            try await kitchen.addGame("Hearts")
            try await kitchen.addMatch("Catan", "Ada")
            #expect(try await kitchen.zone("club").records == 1)
            #expect(try await kitchen.peer("zone").contains("*  club"))
            try await kitchen.peer("peers", "grant", "study", "club", "read")
            let refused = try await kitchen.run("zone", "delete", "club", "--yes")
            #expect(refused.isSentence(65) && refused.errors.contains("shared with study"), "\(refused)")
            try await kitchen.peer("peers", "revoke", "study", "club")
            #expect(try await kitchen.run("zone", "delete", "club").isSentence(64))
            #expect(
                try await kitchen.peer("zone", "delete", "club", "--yes")
                    == "deleted the zone “club” with 1 record\n")
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Catan"])
            #expect(try await kitchen.run("zone", "delete", "ScorebookData", "--yes").isSentence(65))
            // What is new goes to the zone that is left.
            try await kitchen.addGame("Skat")
            #expect(try await kitchen.peer("zone", "use") == "the zone in use is “ScorebookData”\n")
            #expect(try kitchen.isSound())
            try await study.sync(with: kitchen)
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }
}
