import Foundation
import Testing

/// What the command line says of itself.
@Suite(.takingTurns) struct HelpTests {
    /// The command line as the argument parser describes it to programs.
    private struct Tool: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let arguments: [Argument]?
        let subcommands: [Command]?

        /// This and all commands below, each with the words that lead to it.
        func all(_ path: [String] = []) -> [(path: [String], command: Command)] {
            [(path, self)]
                + (subcommands ?? []).filter { $0.commandName != "help" }
                .flatMap { $0.all(path + [$0.commandName]) }
        }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
    }

    private func commands(_ scene: Scene) async throws -> [(path: [String], command: Command)] {
        let outcome = try await scene.run(["--experimental-dump-help"])
        return try JSONDecoder().decode(Tool.self, from: Data(outcome.output.utf8)).command.all()
    }

    private static let contract =
        [
            "pair",
            "listen", "connect", "peers", "peers list", "peers household", "peers introduce", "peers forget",
            "peers rename", "peers grant",
            "peers revoke", "zone", "zone list", "zone create", "zone use", "zone rename", "zone delete",
            "zone accept",
            "zone restore", "sync",
            "status", "import",
            "export", "assets", "image", "image save", "record", "record list", "record show",
            "record delete", "record restore", "doctor", "service", "service install", "service remove",
            "service show",
        ]
        + ["person", "game", "match", "score", "image"].flatMap { type in
            [type] + ["add", "list", "show", "edit", "delete", "restore"].map { "\(type) \($0)" }
        }

    @Test func everyCommandIsThere() async throws {
        try await withScene { scene in
            let names = try await commands(scene).map { $0.path.joined(separator: " ") }
            #expect(Set(Self.contract).subtracting(names).isEmpty)
        }
    }

    @Test func everyCommandExplainsItselfAndItsOptions() async throws {
        try await withScene { scene in
            for (path, command) in try await commands(scene) {
                let outcome = try await scene.run(path + ["--help"])
                #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(path)")
                #expect(outcome.output.hasPrefix("OVERVIEW: "), "\(path)")
                #expect(command.abstract?.hasSuffix(".") == true, "\(path)")
                #expect(outcome.output.contains("USAGE: scorebook-peer"), "\(path)")
                for argument in command.arguments ?? [] {
                    let name = argument.names?.first { $0.kind == "long" }.map { "--\($0.name)" }
                    let shown = try #require(name ?? argument.valueName.map { "<\($0)>" })
                    #expect(
                        outcome.output.contains("\n  \(shown)") || outcome.output.contains(", \(shown)"),
                        "\(path)")
                    #expect(argument.abstract?.isEmpty == false, "\(path) \(shown)")
                }
                for subcommand in command.subcommands ?? [] where subcommand.commandName != "help" {
                    #expect(outcome.output.contains("\n  \(subcommand.commandName) "), "\(path)")
                }
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scene.directory.path).allSatisfy {
                    $0.hasPrefix("process-")
                })
        }
    }

    @Test func theOptionsThatScriptsRelyOnAreThere() async throws {
        try await withScene { scene in
            for (command, options) in [
                ("listen", ["--host", "--port", "--pair", "--name", "--store", "--json"]),
                ("connect", ["--code", "--once", "--name", "--store", "--json", "[<name|host[:port]>]"]),
                ("peers list", ["--store", "--json"]), ("peers household", ["--store", "--json"]),
                ("peers introduce", ["<names>", "--yes", "--json"]),
                ("peers forget", ["<name>", "--everywhere", "--erase", "--yes", "--json"]),
                ("status", ["--check", "--repair", "--assets", "--store", "--json"]),
                ("import", ["<file>", "--pictures", "--zone", "--store", "--json"]),
                ("export", ["<file>", "--pictures", "--force", "--zone", "--store", "--json"]),
                ("image add", ["<match>", "<file>", "--caption", "--zone", "--store", "--json"]),
                ("person add", ["--zone"]), ("game list", ["--zone"]), ("match add", ["--zone"]),
                ("score list", ["--zone"]), ("image list", ["--zone"]), ("record list", ["--zone"]),
                ("zone list", ["--store", "--json"]), ("zone create", ["<name>", "--json"]),
                ("zone rename", ["<name>", "<new-name>", "--json"]),
                ("zone use", ["<name>", "--json"]), ("zone delete", ["<name>", "--yes", "--json"]),
                ("zone restore", ["<name>", "--yes", "--json"]),
                ("peers grant", ["<name>", "<zone>", "<read|write|none>", "--json"]),
                ("peers revoke", ["<name>", "<zone>", "--json", "unlearn"]),
                ("sync switch", ["<on|off>", "--store", "--json"]),
                ("image save", ["<image>", "--to", "--force", "--store", "--json"]),
                ("person edit", ["--avatar"]), ("game edit", ["--thumbnail"]),
                ("record delete", ["--yes", "--dry-run", "--store", "--json"]),
                ("record list", ["--type", "--held", "--store", "--json"]),
            ] {
                let help = try await scene.run(command.split(separator: " ").map(String.init) + ["--help"])
                    .output
                for option in options { #expect(help.contains(option), "\(command) \(option)") }
            }
        }
    }

    @Test func everyDeletionSaysHowItIsTakenBack() async throws {
        try await withScene { scene in
            for type in ["person", "game", "match", "score", "image", "record"] {
                let help = try await scene.run([type, "delete", "--help"]).output
                let text = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                for part in [
                    "can be restored for 180 days, on every machine: with `\(type) restore`.",
                    "`record list --deleted` shows what there is.", "--forever",
                ] {
                    #expect(text.contains(part), "\(type)")
                }
            }
        }
    }

    @Test func noCommandShowsTheOverview() async throws {
        try await withScene { scene in
            let outcome = try await scene.run([])
            #expect(outcome.exitCode == 0)
            #expect(outcome.output.contains("scorebook-peer pair"))
            #expect(
                try await scene.run(["--version"]).output.wholeMatch(
                    of: /[0-9]+\.[0-9]+\.[0-9]+(?: \([0-9a-f]+(?:-changed)?\))?\n/) != nil)
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsKnowEveryCommand(shell: String) async throws {
        try await withScene { scene in
            let outcome = try await scene.run(["--generate-completion-script", shell])
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            for (path, _) in try await commands(scene) {
                for word in path { #expect(outcome.output.contains(word), "\(path)") }
                // Functions of the scripts are named after the whole path in bash and zsh.
                guard shell != "fish" else { continue }
                let name = (["scorebook-peer"] + path).joined(separator: "_")
                #expect(outcome.output.contains("_\(name)"), "\(path)")
            }
        }
    }

    @Test(arguments: [
        ["dice"], ["--dice"], ["person", "dice"], ["person", "add"], ["person", "add", "Ada", "Lovelace"],
        ["game", "add", "Catan", "--year", "x"], ["game", "add", "Catan", "--year"],
        ["game", "add", "Catan", "--highest-wins", "perhaps"], ["match", "list", "--limit=-1"],
        ["listen", "--port", "65536"], ["listen", "--port", "x"], ["connect", ""],
        ["connect", "host:0"], ["connect", "host:99999"], ["connect", "host:x"], ["connect", "[::1"],
        ["connect", "a", "b"], ["peers", "forget"], ["peers", "rename", "a"], ["import"], ["export"],
        ["record", "show"], ["record", "list", "--type"], ["status", "now"],
        ["status", "--assets"], ["image", "add"], ["image", "add", "cafe"], ["image", "save"],
        ["assets", "some"], ["sync", "maybe"], ["sync", "on", "off"], ["zone", "create"],
        ["zone", "rename", "club"], ["zone", "restore"], ["zone", "delete"], ["zone", "erase", "club"],
        ["peers", "grant", "study", "club"],
        ["peers", "grant", "study", "club", "admin"], ["peers", "grant", "study", "club", "READ"],
        ["peers", "revoke", "study"], ["person", "list", "--zone"],
    ])
    func wrongUsageIsToldHowToDoBetter(arguments: [String]) async throws {
        try await withScene { scene in
            let outcome = try await scene.run(arguments)
            #expect(outcome.isSentence(64), "\(outcome)")
            let hint = try #require(
                outcome.errors.firstMatch(of: /\nhint: see `scorebook-peer (.*--help)`\n$/))
            // No store is made for it.
            #expect(!FileManager.default.fileExists(atPath: scene.path(".local")))
            let help = try await scene.run(hint.output.1.split(separator: " ").map(String.init))
            #expect(help.exitCode == 0 && help.output.hasPrefix("OVERVIEW: "), "\(outcome)")
        }
    }

    @Test(arguments: [
        (["dice"], "unexpected argument 'dice'\nhint: see `scorebook-peer --help`"),
        (
            ["person", "add"],
            "missing expected argument '<name>'\nhint: see `scorebook-peer person add --help`"
        ),
        (
            ["status", "--stor", "x"],
            "unknown option '--stor', but there is '--store'\nhint: see `scorebook-peer status --help`"
        ),
        (
            ["sync", "maybe"],
            "the value 'maybe' is invalid for '<on|off>'; it is one of 'on' and 'off'\nhint: see `scorebook-peer sync --help`"
        ),
        (
            ["record", "list", "--held", "--deleted"],
            "say one of --held and --deleted\nhint: see `scorebook-peer record list --help`"
        ),
        (["status", "--repair"], "--repair goes with --check\nhint: see `scorebook-peer status --help`"),
    ])
    func wrongUsageIsOneSentence(arguments: [String], sentence: String) async throws {
        try await withScene { scene in
            let errors = try await scene.run(arguments).errors
            #expect(errors == "error: \(sentence)\n")
        }
    }

    #if os(Linux)
        @Test(arguments: [
            ["--help"], ["--version"], [], ["help", "person"], ["person", "add", "--help"],
            ["--generate-completion-script", "bash"], ["--experimental-dump-help"], ["status"],
            ["status", "--json"],
            ["person", "list"], ["export", "-"],
        ])
        func anOutputThatIsLostIsNoSuccess(arguments: [String]) async throws {
            try await withMachine { kitchen in
                try await kitchen.peer("person", "add", "Ada")
                let process = try kitchen.scene.start(
                    arguments, environment: ["SCOREBOOK_STORE": kitchen.store.path], output: "/dev/full")
                #expect(try await process.outcome().isSentence(74))
            }
        }

        /// As `person list | head`, where head has seen enough.
        @Test(arguments: [
            ["--help"], ["status"], ["status", "--json"], ["person", "list"], ["person", "list", "--json"],
            ["export", "-"],
        ])
        func whoeverReadsNoMoreGetsNoSentence(arguments: [String]) async throws {
            try await withMachine { kitchen in
                try await kitchen.peer("person", "add", "Ada")
                // The writing end of a pipe without a reading one, and the signals as a shell begins with them.
                let lost = """
                    mkfifo lost && exec 3<>lost 4>lost 3>&- && exec env --default-signal=PIPE "$0" "$@" >&4
                    """
                let process = try kitchen.scene.start(
                    ["-c", lost, PeerProcess.program.path] + arguments, of: URL(fileURLWithPath: "/bin/sh"),
                    environment: ["SCOREBOOK_STORE": kitchen.store.path])
                let outcome = try await process.outcome()
                #expect(outcome.exitCode == 74 && outcome.errors.isEmpty, "\(outcome)")
            }
        }
    #endif
}
