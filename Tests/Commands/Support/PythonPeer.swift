import Foundation
import TestSupport
import Testing

/// The second implementation of the protocol, in Python, written from Protocol/ without a look at this one.
///
/// Its scenarios run it against the program under test, both as callers and as listeners.
enum PythonPeer {
    private static let vectors = Repository.vectors
    private static let directory = Repository.root.appendingPathComponent("Tests/PythonPeer")

    /// The interpreter with the packages that the peer needs.
    private static func interpreter() throws -> URL {
        let url = Repository.root.appendingPathComponent(".build-python/bin/python")
        let isThere = FileManager.default.isExecutableFile(atPath: url.path)
        return try #require(
            isThere ? url : nil, "Python's packages are missing; run scripts/install-dependencies --tests")
    }

    private static func run(_ scene: Scene, _ arguments: [String]) async throws -> Outcome {
        // A scenario starts the peer many times. What Python compiles is kept, and not among the sources.
        let environment = [
            "PYTHONPATH": directory.path, "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": Repository.root.appendingPathComponent(".build-python/bytecode").path,
        ]
        let process = try scene.start(arguments, of: interpreter(), environment: environment)
        // A scenario has many steps, of which each has a limit of its own.
        return try await process.outcome(within: .seconds(600))
    }

    static func vectorFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: vectors.path)
    }

    /// Checks the vectors from the other side.
    static func checkVectors(_ scene: Scene) async throws -> Outcome {
        try await run(scene, ["-m", "scorebook_python_peer", "vectors", vectors.path])
    }

    /// The names of all scenarios.
    static func scenarios(_ scene: Scene) async throws -> [String] {
        let outcome = try await run(scene, [scenarioFile, "--list"])
        return outcome.output.split(separator: "\n").map(String.init)
    }

    static func play(_ scenario: String, _ scene: Scene) async throws -> Outcome {
        try await run(
            scene,
            [
                scenarioFile, "--program", PeerProcess.program.path, "--data", Household.path, "--directory",
                scene.path("scenario"), scenario,
            ])
    }

    private static var scenarioFile: String { directory.appendingPathComponent("scenarios.py").path }
}
