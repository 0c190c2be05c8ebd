import Foundation
import Testing

/// Keys and codes stay where they belong.
@Suite(.takingTurns) struct SecretTests {
    /// The secret key of a machine, as its file has it.
    private func key(of machine: Machine) throws -> String {
        let text = try String(
            contentsOf: machine.store.appendingPathComponent("identity.key"), encoding: .utf8)
        return try #require(text.firstMatch(of: /[0-9a-f]{64}/)).output.description
    }

    @Test func theMostTalkativeLogTellsNoCodeAndNoKey() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true, extra: ["--verbose"])
            let (code, wrong) = (try #require(listener.code), try listener.wrongCode())
            var errors = ""
            for typed in [wrong, code] {
                let outcome = try await study.run(
                    "connect", listener.address, "--code", typed, "--once", "--verbose")
                #expect(!outcome.output.contains(typed))
                errors += outcome.errors
            }
            try await listener.process.event("paired")
            try await listener.stop()
            // The failure was logged, so the log is there to be looked at.
            #expect(listener.process.errors.contains("the pairing code is wrong"))
            errors += listener.process.errors
            for code in [wrong, code] {
                #expect(!errors.contains(code) && !errors.contains(code.filter { $0 != "-" }))
            }
            for machine in [kitchen, study] {
                let key = try key(of: machine)
                #expect(!errors.lowercased().contains(key))
                #expect(!listener.process.output.lowercased().contains(key))
            }
        }
    }

    @Test func whatAStoreHoldsIsForItsOwnerAlone() async throws {
        try await withMachine { kitchen in
            // A directory that is there already keeps its mode, so the files have to have theirs.
            try FileManager.default.createDirectory(
                at: kitchen.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            let listener = try await kitchen.listen()
            try await kitchen.addGame("Catan")
            var files: Set<String> = []
            for file in try FileManager.default.contentsOfDirectory(atPath: kitchen.store.path) {
                let path = kitchen.store.appendingPathComponent(file).path
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                let mode = try #require(attributes[.posixPermissions] as? NSNumber).intValue
                #expect(mode & 0o077 == 0, "\(file) has the mode \(String(mode, radix: 8))")
                files.insert(file)
            }
            #expect(files.isSuperset(of: ["identity.key", "scorebook.sqlite", "scorebook.sqlite-wal"]))
            try await listener.stop()
        }
    }
}
