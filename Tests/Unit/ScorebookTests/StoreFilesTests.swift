import Foundation
import Scorebook
import TestSupport
import Testing

/// Nothing that a user names is written over the files of a store, whatever leads to them.
struct StoreFilesTests {
    private let files = FileManager.default

    /// A store with a database and a directory of pictures, beside a directory that has links to it; no backups yet.
    private func withStore(_ body: (StoreFiles, _ path: (String) -> String) async throws -> Void) async throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let root = directory.url
        let path = { (name: String) in root.appendingPathComponent(name).path }
        try files.createDirectory(atPath: path("store/assets/3f"), withIntermediateDirectories: true)
        try files.createDirectory(atPath: path("elsewhere"), withIntermediateDirectories: true)
        for name in [
            "store/scorebook.sqlite", "store/identity.key", "store/assets/3f/3f00", "store/notes.txt",
        ] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: path(name)))
        }
        for (name, target) in [
            ("database", "../store/scorebook.sqlite"), ("key", path("store/identity.key")), ("chain", "key"),
            ("log", "../store/scorebook.sqlite-wal"), ("store", "../store"), ("pictures", "../store/assets"),
            ("notes", "../store/notes.txt"), ("circle", "circle"),
        ] {
            try files.createSymbolicLink(atPath: path("elsewhere/\(name)"), withDestinationPath: target)
        }
        try files.linkItem(atPath: path("store/scorebook.sqlite"), toPath: path("elsewhere/same.sqlite"))
        let own =
            ScorebookDatabase.files(at: path("store/scorebook.sqlite"))
            + ["identity.key", "assets", "backups"].map { URL(fileURLWithPath: path("store/\($0)")) }
        try await body(StoreFiles(own), path)
    }

    static let own = [
        "store/scorebook.sqlite", "store/scorebook.sqlite-wal", "store/scorebook.sqlite-shm",
        "store/scorebook.sqlite-journal", "store/identity.key", "store/assets", "store/assets/new.jpg",
        "store/assets/3f/3f00", "store/assets/3f/../new.jpg", "store/backups", "store/backups/new.sqlite",
        "store/backups/deep/new.sqlite", "store/./identity.key", "store//identity.key",
        "store/../store/identity.key", "store/assets/../identity.key", "store/SCOREBOOK.SQLITE-WAL",
        "elsewhere/database", "elsewhere/key", "elsewhere/chain", "elsewhere/log", "elsewhere/same.sqlite",
        "elsewhere/store/identity.key", "elsewhere/store/backups/x", "elsewhere/pictures/x",
        "elsewhere/pictures/../identity.key",
    ]

    @Test(arguments: own) func aFileOfTheStoreIsKnown(name: String) async throws {
        try await withStore { store, path in
            #expect(store.contain(path(name)))
        }
    }

    @Test(arguments: [
        "elsewhere/new.json", "elsewhere/notes", "elsewhere/circle", "elsewhere", "store", "store/new.json",
        "store/notes.txt", "store/assets.json", "store/assets/../new.json", "elsewhere/pictures/../new.json",
        "nowhere/store/identity.key", "scorebook.sqlite", "store/scorebook.sqlite.json", "/", "",
    ])
    func anyOtherFileIsNot(name: String) async throws {
        try await withStore { store, path in
            #expect(!store.contain(name == "/" || name == "" ? name : path(name)))
        }
    }

    @Test(arguments: own) func nothingIsExportedOntoTheStore(name: String) async throws {
        try await withStore { store, path in
            let scorebook = try Support.scorebook()
            let before = try contents(path("."))
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.exportFile(at: path(name), replaces: true, sparing: store)
            }
            #expect(
                error?.code == .notWritable && error?.message.contains("belongs to the scorebook") == true)
            #expect(throws: ScorebookError.self) {
                try scorebook.makePictureDirectory(URL(fileURLWithPath: path(name)), sparing: store)
            }
            #expect(try contents(path(".")) == before)
        }
    }

    @Test func aFileBesideTheStoreIsWrittenWithItsModeKept() async throws {
        try await withStore { store, path in
            let scorebook = try Support.scorebook()
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("store/notes.txt"))
            try await scorebook.exportFile(at: path("elsewhere/notes"), replaces: true, sparing: store)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: path("store/notes.txt")))
                    == (try await scorebook.exportData()))
            #expect(
                try files.destinationOfSymbolicLink(atPath: path("elsewhere/notes")) == "../store/notes.txt")
            let mode =
                try files.attributesOfItem(atPath: path("store/notes.txt"))[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    /// The names of all files below a directory, with what they hold.
    private func contents(_ path: String) throws -> [String: Data?] {
        let names = try files.subpathsOfDirectory(atPath: path)
        return Dictionary(uniqueKeysWithValues: names.map { ($0, files.contents(atPath: "\(path)/\($0)")) })
    }
}
