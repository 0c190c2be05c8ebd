import Foundation
import TestSupport
import Testing

/// The second implementation of the protocol, in Python, written from Protocol/ without a look at this one.
///
/// Its scenarios run it against the program under test, both as callers and as listeners.
enum PythonPeer {
    private static let vectors = Repository.vectors
    static let directory = Repository.root.appendingPathComponent("Tests/PythonPeer")

    /// The interpreter with the packages that the peer needs.
    static func interpreter() throws -> URL {
        let url = Repository.root.appendingPathComponent(".build-python/bin/python")
        let isThere = FileManager.default.isExecutableFile(atPath: url.path)
        return try #require(
            isThere ? url : nil, "Python's packages are missing; run scripts/install-dependencies --tests")
    }

    private static func run(_ scene: Scene, _ arguments: [String]) async throws -> Outcome {
        // A scenario has many steps, of which each has a limit of its own.
        try await start(scene, arguments).outcome(within: .seconds(600))
    }

    /// Starts Python with the sources of the peer, or with a copy of them.
    static func start(_ scene: Scene, _ arguments: [String], sources: URL = directory) throws -> PeerProcess {
        // A scenario starts the peer many times. What Python compiles is kept, and not among the sources.
        let environment = [
            "PYTHONPATH": sources.path, "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": Repository.root.appendingPathComponent(".build-python/bytecode").path,
        ]
        return try scene.start(arguments, of: interpreter(), environment: environment)
    }

    /// Tries an implementation with the conformance kit.
    ///
    /// - Parameters:
    ///   - hook: the command that makes the other side do something.
    ///   - options: what is tried; all if there are none.
    static func conformance(
        of address: String, code: String, hook: [String], options: [String], _ scene: Scene
    ) async throws -> Outcome {
        try await run(
            scene,
            [
                directory.appendingPathComponent("conformance.py").path, address, code, "--directory",
                scene.path("conformance"), "--do", hook.map { "'\($0)'" }.joined(separator: " "),
            ] + options)
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

    /// Lets strangers besiege the program under test, and measures what its paired machines notice.
    static func siege(by count: Int, _ scene: Scene) async throws -> Outcome {
        try await run(
            scene,
            [
                directory.appendingPathComponent("strangers.py").path, "--program", PeerProcess.program.path,
                "--count", "\(count)", "--changes", "2",
            ])
    }

    private static var scenarioFile: String { directory.appendingPathComponent("scenarios.py").path }
}
