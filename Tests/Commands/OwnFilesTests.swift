import Foundation
import Testing

/// No command writes over the files of the store that it works on, whatever the user names.
@Suite(.takingTurns) struct OwnFilesTests {
    private static let names = [
        "scorebook.sqlite", "scorebook.sqlite-wal", "scorebook.sqlite-shm", "identity.key", "assets/new.json",
        "backups/new.json", "../kitchen/identity.key", "link",
    ]

    /// A store with a picture, and a link to its key.
    private func withPicture(_ body: (Machine, _ match: String) async throws -> Void) async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            try FileManager.default.createSymbolicLink(
                atPath: kitchen.store.appendingPathComponent("link").path, withDestinationPath: "identity.key"
            )
            try await body(kitchen, match)
        }
    }

    @Test(arguments: names) func nothingIsExportedOntoThem(name: String) async throws {
        try await withPicture { kitchen, match in
            let path = kitchen.store.appendingPathComponent(name).path
            let status = try await kitchen.status()
            let names = try kitchen.fileNames()
            for command in [
                ["export", path, "--force"], ["export", "-", "--pictures", path],
                ["image", "save", match, "--to", path, "--force"],
            ] {
                let outcome = try await kitchen.start(command).outcome()
                #expect(outcome.isSentence(73), "\(outcome)")
                #expect(outcome.errors.contains("belongs to the scorebook"), "\(outcome)")
            }
            #expect(try kitchen.fileNames() == names)
            #expect(try await kitchen.status() == status)
            #expect(try await kitchen.peer("status", "--check", "--assets").contains("sound"))
        }
    }

    /// Where somebody stands in the store's directory.
    @Test func norByARelativePath() async throws {
        try await withPicture { kitchen, _ in
            let outcome = try await kitchen.scene.start(
                [
                    "-c", "cd \"$1\" && exec \"$0\" export ./scorebook.sqlite --force --store .",
                    PeerProcess.program.path, kitchen.store.path,
                ], of: URL(fileURLWithPath: "/bin/sh")
            ).outcome()
            #expect(
                outcome.isSentence(73) && outcome.errors.contains("belongs to the scorebook"), "\(outcome)")
            #expect(try kitchen.isSound())
        }
    }

    /// Nor over those of another store.
    @Test(arguments: ["scorebook.sqlite", "identity.key"]) func anotherStoreIsSpared(name: String)
        async throws
    {
        try await withPair { kitchen, study in
            let path = study.store.appendingPathComponent(name).path
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let outcome = try await kitchen.start(["export", path, "--force"]).outcome()
            #expect(outcome.isSentence(73), "\(outcome)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    /// Whoever keeps their exports beside the scorebook may do so.
    @Test func otherFilesInTheDirectoryAreNobodysBusiness() async throws {
        try await withPicture { kitchen, match in
            let path = kitchen.store.appendingPathComponent("export.json").path
            try await kitchen.peer("export", path)
            try await kitchen.peer("export", path, "--force")
            try await kitchen.peer("image", "save", match, "--to", kitchen.store.path)
        }
    }
}

extension Machine {
    /// The names of all files in the store's directory but those that SQLite makes and removes as it needs them.
    fileprivate func fileNames() throws -> Set<String> {
        let names = try FileManager.default.subpathsOfDirectory(atPath: store.path)
        return Set(names.filter { !$0.hasPrefix("scorebook.sqlite-") })
    }
}
