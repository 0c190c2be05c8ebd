import Foundation
import TestSupport
import Testing

/// README and the guides are typed from top to bottom on new machines, and show what is shown there.
@Suite(.takingTurns) struct GuideTests {
    /// What only a package or this very test run can do.
    private static let elsewhere: Set = ["scripts/test", "sudo apt install ./scorebook-peer_*.deb"]

    @Test func readme() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.importHousehold()
            var showing: PeerProcess?
            for step in try Guide("README.md").steps where !Self.elsewhere.contains(step.command) {
                let output: String
                switch (step.machine, step.command.split(separator: " ").dropFirst().first) {
                case (nil, _):
                    try #require(step.command == "scripts/demo", "line \(step.line)")
                    output = try await type(
                        "\(Repository.root.path)/\(step.command) --program '\(PeerProcess.program.path)'",
                        in: kitchen.scene)
                case ("kitchen"?, "pair"?):
                    let process = try kitchen.start(["pair", "--port", "0", "--name", "kitchen"])
                    // The machines of tests look for nobody, so it also says where it is.
                    let text = try await process.output(matching: /add: --with .*\n/)
                    output = text.split(separator: "\n").dropLast().joined(separator: "\n")
                    showing = process
                default:
                    let text = try #require(showing).output
                    let code = try #require(text.firstMatch(of: /code ([0-9]{3}-[0-9]{3})/)).1
                    let port = try #require(text.firstMatch(of: /--with .*:([0-9]+)/)).1
                    output = try await study.peer(
                        "pair", String(code), "--with", "127.0.0.1:\(port)", "--name", "study")
                }
                #expect(
                    try step.isShown(output),
                    "README.md, line \(step.line) shows something else than:\n\(output)")
            }
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func theScorebookEveryDay() async throws {
        try await withMachine { machine in
            try copy("scripts/data/household.bgstats.json", to: "diary.json", in: machine.scene)
            for (file, name) in [
                ("collection.bgg.xml", "collection.xml"), ("plays.bgg.xml", "plays.xml"),
                ("collection.bgg.csv", "collection.csv"),
            ] {
                try copy("Tests/Unit/ScorebookTests/Data/\(file)", to: name, in: machine.scene)
            }
            try await follow("docs/scorebook.md", on: machine)
        }
    }

    /// The guide takes a paired machine, “study”, for granted.
    @Test func zones() async throws {
        try await withPair { kitchen, _ in
            try copy("scripts/data/household.bgstats.json", to: "diary.json", in: kitchen.scene)
            try await follow("docs/zones.md", on: kitchen)
        }
    }

    private func copy(_ path: String, to name: String, in scene: Scene) throws {
        try FileManager.default.copyItem(
            at: Repository.root.appendingPathComponent(path), to: URL(fileURLWithPath: scene.path(name)))
    }

    /// Types all commands of a guide on a machine.
    private func follow(_ guide: String, on machine: Machine) async throws {
        let steps = try Guide(guide).steps
        try #require(steps.count > 5)
        for step in steps {
            let output = try await type(
                named(step.command, on: machine), step.typed, in: machine.scene, store: machine.store)
            #expect(
                try step.isShown(output), "\(guide), line \(step.line) shows something else than:\n\(output)")
        }
    }

    /// Puts the name of a record of this machine in place of the one that a guide shows.
    private func named(_ command: String, on machine: Machine) throws -> String {
        guard let shown = command.firstMatch(of: /(SB[A-Za-z]+)\|~\|[-0-9a-f]{36}/) else { return command }
        let name = try #require(try machine.rows("SELECT recordName FROM \(shown.1) LIMIT 1").first)
        return command.replacingCharacters(in: shown.range, with: name)
    }

    /// Types a command in a shell.
    ///
    /// - Returns: what it printed.
    private func type(_ command: String, _ lines: [String] = [], in scene: Scene, store: URL? = nil)
        async throws -> String
    {
        let program = PeerProcess.program.deletingLastPathComponent().path
        let input = lines.map { $0 + "\n" }.joined()
        let script =
            "cd '\(scene.directory.path)'; PATH='\(program)':$PATH; printf %s '\(input)' | { \(command)\n}"
        let outcome = try await scene.start(
            ["-c", script], of: URL(fileURLWithPath: "/bin/bash"),
            environment: store.map { ["SCOREBOOK_STORE": $0.path] } ?? [:]
        ).outcome(within: .seconds(120))
        #expect(outcome.exitCode == 0, "\(command)\n\(outcome)")
        return outcome.output
    }
}
