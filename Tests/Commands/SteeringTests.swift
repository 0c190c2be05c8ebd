import Foundation
import TestSupport
import Testing

/// What others have named steers neither the terminal nor the shell of whoever reads the names.
@Suite(.takingTurns) struct SteeringTests {
    /// Adds a game as another program does, whose name has controls of terminals: ESC, CSI and an override of the direction.
    private func addSteeringGame(_ machine: Machine) async throws {
        try await machine.makeStore()
        try machine.write(
            """
            INSERT INTO SBGame (recordName, name)
            VALUES ('SBGame|~|a', 'a' || char(27) || '[2J' || char(155) || 'b' || char(8238) || 'c')
            """)
    }

    @Test func jsonSteersNoTerminal() async throws {
        try await withMachine { kitchen in
            try await addSteeringGame(kitchen)
            let output = try await kitchen.peer("game", "list", "--json")
            #expect(output.contains("a\\u001b[2J\\u009bb\\u202ec"), "\(output)")
        }
    }

    /// A file gets the names as they are.
    @Test func aSpreadsheetOnATerminalDoesNotSteerIt() async throws {
        try await withMachine { kitchen in
            try await addSteeringGame(kitchen)
            #expect(try await kitchen.peer("game", "list", "--csv").contains("a\u{1B}[2J\u{9B}b\u{202E}c"))
            let terminal = try PseudoTerminal()
            let process = try kitchen.scene.start(
                [
                    "-c", #"exec "$0" "$@" >&0"#, PeerProcess.program.path, "game", "list", "--csv",
                    "--store", kitchen.store.path,
                ], of: URL(fileURLWithPath: "/bin/sh"), terminal: terminal)
            #expect(try await process.end() == 0, "\(process)")
            let shown = terminal.written()
            #expect(shown.contains("a\u{FFFD}[2J\u{FFFD}b\u{FFFD}c"), "\(shown)")
        }
    }

    /// A command that people copy has a name as one word; one that it would take for an option it leaves out.
    @Test(arguments: [
        ("a'b; touch x", #"'a'\''b; touch x'"#), ("$(touch x)", "'$(touch x)'"), ("-yes", "ZONE"),
    ])
    func aNameInACommandIsOneWord(name: String, word: String) async throws {
        try await withPair { kitchen, study in
            func run(_ arguments: String...) async throws -> Outcome {
                try await kitchen.scene.run(arguments, environment: ["SCOREBOOK_STORE": kitchen.store.path])
            }
            #expect(try await run("zone", "create", "--", name).exitCode == 0)
            #expect(try await run("peers", "grant", "--", "study", name, "write").exitCode == 0)
            try await study.sync(with: kitchen)
            #expect(try await run("peers", "revoke", "--", "study", name).exitCode == 0)
            let deleted = try await run("zone", "delete", "--yes", "--", name)
            #expect(deleted.output.contains("`zone accept \(word)` lets it come back"), "\(deleted)")
        }
    }
}
