import Foundation
import TestSupport
import Testing

/// The conformance kit tells a program that does what Protocol/ says from one that does not.
@Suite(.takingTurns) struct ConformanceTests {
    /// A fault in the Python peer: one line of it, what it becomes, and the check that has to notice.
    struct Fault: CustomTestStringConvertible, Sendable {
        let name: String
        let file: String
        let line: String
        let becomes: String
        let noticedBy: String

        var testDescription: String { name }
    }

    private static let faults = [
        Fault(
            name: "it takes records from the future", file: "exchange.py",
            line: "newest.milliseconds > clock + allowed_skew",
            becomes: "newest.milliseconds > clock + 1000 * allowed_skew",
            noticedBy: "a stamp in the future"),
        Fault(
            name: "the lesser of two values under one stamp wins", file: "merge.py",
            line: "return a.value > b.value", becomes: "return a.value < b.value",
            noticedBy: "of two values under one stamp the greater bytes win"),
        Fault(
            name: "a caller believes whoever shows a code", file: "greeting.py",
            line: "if not proof.accepts(tag.tag):",
            becomes: "if not self._is_caller and not proof.accepts(tag.tag):",
            noticedBy: "a listener that does not know the code"),
        Fault(
            name: "a caller brings whoever shows a code into its household", file: "session.py",
            line: "any(zone.zone.is_default for zone in agreed)", becomes: "True",
            noticedBy: "it introduces nobody who gives it a zone only"),
    ]

    @Test func theProgramHoldsInBothRoles() async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen(pair: true)
            let outcome = try await PythonPeer.conformance(
                of: listener.address, code: #require(listener.code),
                hook: [
                    PythonPeer.interpreter().path,
                    PythonPeer.directory.appendingPathComponent("do-scorebook-peer").path,
                    PeerProcess.program.path, kitchen.store.path,
                ],
                // Each of these starts the program once, which decodes what a listener sends as it does what a caller does.
                options: ["--skip", "6.3 listener", "--skip", "6.6 listener"], kitchen.scene)
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains(" 0 did not hold; 0 not tried"))
        }
    }

    @Test func thePythonPeerHolds() async throws {
        let outcome = try await tryPythonPeer { _ in }
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test(arguments: faults) func aPlantedFaultIsFound(_ fault: Fault) async throws {
        let outcome = try await tryPythonPeer { sources in
            let file = sources.appendingPathComponent("scorebook_python_peer").appendingPathComponent(
                fault.file)
            let text = try String(contentsOf: file, encoding: .utf8)
            try #require(text.components(separatedBy: fault.line).count == 2, "the line is not there once")
            try text.replacingOccurrences(of: fault.line, with: fault.becomes)
                .write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(outcome.exitCode == 1)
        let failed = outcome.output.split(separator: "\n").filter { $0.hasPrefix("NOT HELD") }
        #expect(failed.contains { $0.contains(fault.noticedBy) }, "\(outcome.output)\(outcome.errors)")
        // The bytes come right below.
        #expect(outcome.output.contains("\n           sent "), "\(outcome.output)")
    }

    /// Tries a copy of the Python peer with what notices one of the faults.
    private func tryPythonPeer(changing change: (URL) throws -> Void) async throws -> Outcome {
        try await withScene { scene in
            let sources = scene.directory.appendingPathComponent("copy")
            try FileManager.default.copyItem(at: PythonPeer.directory, to: sources)
            try change(sources)
            let arguments = ["-m", "scorebook_python_peer", "--state", scene.path("tried")]
            let listening = try PythonPeer.start(
                scene, arguments + ["listen", "--pair", "--name", "tried"], sources: sources)
            let output = try await listening.output(matching: /pairing code \d{3}-\d{3}/)
            let address = try #require(output.firstMatch(of: /listening on (\S+)/)?.output.1)
            let code = try #require(output.firstMatch(of: /pairing code (\S+)/)?.output.1)
            return try await PythonPeer.conformance(
                of: String(address), code: String(code),
                hook: [
                    "env", "PYTHONPATH=\(sources.path)", "PYTHON=\(PythonPeer.interpreter().path)",
                    sources.appendingPathComponent("do-python-peer").path, scene.path("tried"),
                ],
                options: (["a machine that a member introduces"] + Self.faults.map(\.noticedBy)).flatMap {
                    ["--only", $0]
                }, scene)
        }
    }
}
