import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// `service` writes a unit for this program, and leaves alone what somebody else wrote.
    @Suite(.takingTurns) struct ServiceTests {
        /// A systemctl that notes what it is asked, in the place of the system's.
        private struct Manager {
            let environment: [String: String]
            let notes: URL
            let unit: URL

            init(_ scene: Scene, answers: Bool = true) throws {
                let directory = scene.directory.appendingPathComponent("bin", isDirectory: true)
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                notes = scene.directory.appendingPathComponent("asked")
                unit = scene.directory.appendingPathComponent(".config/systemd/user/scorebook-peer.service")
                let program = directory.appendingPathComponent("systemctl")
                try Data("#!/bin/sh\necho \"$*\" >>'\(notes.path)'\nexit \(answers ? 0 : 1)\n".utf8).write(
                    to: program)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
                let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
                environment = ["PATH": "\(directory.path):\(path)"]
            }

            var asked: [String] {
                let text = (try? String(contentsOf: notes, encoding: .utf8)) ?? ""
                return text.split(separator: "\n").map(String.init)
            }
        }

        @Test func aUnitForThisProgramIsWrittenStartedAndRemoved() async throws {
            try await withScene { scene in
                let manager = try Manager(scene)
                let store = scene.path("our store")
                let install = try await scene.run(
                    ["service", "install", "--store", store], environment: manager.environment)
                #expect(install.exitCode == 0 && install.errors.isEmpty, "\(install)")
                let text = try String(contentsOf: manager.unit, encoding: .utf8)
                let program = PeerProcess.program.resolvingSymlinksInPath().path
                #expect(text.contains("ExecStart=\(program) listen --store \"\(store)\"\n"), "\(text)")
                #expect(
                    manager.asked == [
                        "--user show-environment", "--user daemon-reload",
                        "--user enable scorebook-peer.service",
                        "--user restart scorebook-peer.service",
                    ])
                #expect(!FileManager.default.fileExists(atPath: store))
                // Once more is fine: the file is its own.
                #expect(
                    try await scene.run(["service", "install"], environment: manager.environment).exitCode
                        == 0)
                let remove = try await scene.run(["service", "remove"], environment: manager.environment)
                #expect(remove.exitCode == 0, "\(remove)")
                #expect(!FileManager.default.fileExists(atPath: manager.unit.path))
                #expect(manager.asked.contains("--user disable --now scorebook-peer.service"))
                #expect(
                    try await scene.run(["service", "remove"], environment: manager.environment).isSentence(
                        66))
            }
        }

        @Test(arguments: ["install", "remove"])
        func aFileOfSomebodyElseStays(command: String) async throws {
            try await withScene { scene in
                let manager = try Manager(scene)
                let directory = manager.unit.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                let own = Data("[Service]\nExecStart=/opt/scorebook-peer listen\n".utf8)
                try own.write(to: manager.unit)
                let outcome = try await scene.run(["service", command], environment: manager.environment)
                #expect(outcome.isSentence(73) && outcome.errors.contains(manager.unit.path), "\(outcome)")
                #expect(try Data(contentsOf: manager.unit) == own)
                #expect(manager.asked.isEmpty)
            }
        }

        @Test func withoutSystemdASentenceSaysWhatHelps() async throws {
            try await withScene { scene in
                let manager = try Manager(scene, answers: false)
                let outcome = try await scene.run(["service", "install"], environment: manager.environment)
                #expect(
                    outcome.isSentence(69) && outcome.errors.contains("`scorebook-peer listen`"), "\(outcome)"
                )
                #expect(!FileManager.default.fileExists(atPath: manager.unit.path))
            }
        }

        /// A service has none of the variables of the shell that installed it.
        @Test func aStoreThatTheEnvironmentNamesIsNamedToTheService() async throws {
            try await withScene { scene in
                for (variable, directory) in [
                    ("XDG_DATA_HOME", "/data/scorebook-peer"), ("SCOREBOOK_STORE", "/data"),
                ] {
                    let unit = try await scene.run(["service", "show"], environment: [variable: "/data"])
                    #expect(unit.output.contains(" listen --store \(directory)\n"), "\(unit)")
                }
                let usual = try await scene.run(
                    ["service", "show"], environment: ["XDG_DATA_HOME": scene.path(".local/share")])
                #expect(usual.output.contains(" listen\n"), "\(usual)")
            }
        }

        @Test(arguments: ["systemd", "launchd"], ["--program", "--store"])
        func aPathThatNoManagerReadsIsASentence(manager: String, option: String) async throws {
            try await withScene { scene in
                for path in ["/a\nb", "/a\u{1}b"] {
                    let outcome = try await scene.run(["service", "show", "--for", manager, option, path])
                    #expect(
                        outcome.isSentence(65) && outcome.errors.contains("control characters"), "\(outcome)")
                }
            }
        }

        @Test func withoutAHomeNoStoreIsAskedFor() async throws {
            try await withScene { scene in
                for command in ["install", "show"] {
                    let outcome = try await scene.run(
                        ["service", command, "--store", scene.path("a")],
                        environment: ["HOME": scene.path("gone")])
                    #expect(
                        outcome.isSentence(73) && outcome.errors.hasSuffix("\nhint: set HOME\n"), "\(outcome)"
                    )
                }
            }
        }

        /// An upgrade of Homebrew removes the folder of the version before.
        @Test func aProgramOfHomebrewIsNamedByTheLinkThatStays() async throws {
            try await withScene { scene in
                let files = FileManager.default
                let root = scene.directory.resolvingSymlinksInPath()
                let version = root.appendingPathComponent("Cellar/scorebook-peer/1.0", isDirectory: true)
                let program = version.appendingPathComponent("bin/scorebook-peer")
                try files.createDirectory(
                    at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
                try files.copyItem(at: PeerProcess.program, to: program)
                // Not every folder of this name is Homebrew's.
                let alone = try await scene.start(["service", "show"], of: program).outcome()
                #expect(alone.output.contains("ExecStart=\(program.path) listen\n"), "\(alone)")
                let link = root.appendingPathComponent("opt/scorebook-peer")
                try files.createDirectory(
                    at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
                try files.createSymbolicLink(at: link, withDestinationURL: version)
                let linked = try await scene.start(["service", "show"], of: program).outcome()
                #expect(
                    linked.output.contains("ExecStart=\(link.path)/bin/scorebook-peer listen\n"), "\(linked)")
            }
        }

        @Test func pathsAreWrittenAsEachManagerReadsThem() async throws {
            try await withScene { scene in
                let unit = try await scene.run(
                    [
                        "service", "show", "--for", "systemd", "--program", "/a b/100%/$y", "--store",
                        "/c d/100%/\"x\"/$y",
                    ])
                #expect(
                    unit.output.contains(
                        #"ExecStart="/a b/100%%/$y" listen --store "/c d/100%%/\"x\"/$$y""# + "\n"), "\(unit)"
                )
                #expect(
                    unit.output.contains(#"ReadWritePaths=%h -"/c d/100%%/\"x\"/$y""# + "\n"), "\(unit)")
                let agent = try await scene.run(
                    ["service", "show", "--for", "launchd", "--program", "/a & b/<c>"])
                let list = try PropertyListSerialization.propertyList(
                    from: Data(agent.output.utf8), format: nil)
                let values = try #require(list as? [String: Any])
                #expect(values["ProgramArguments"] as? [String] == ["/a & b/<c>", "listen"], "\(agent)")
                let log = scene.path("Library/Logs/scorebook-peer.log")
                #expect(values["StandardErrorPath"] as? String == log)
                // macOS gives 256.
                #expect(values["SoftResourceLimits"] as? [String: Int] == ["NumberOfFiles": 4096])
                // A background process would get little of the processor and the disk.
                #expect(values["ProcessType"] == nil)
            }
        }
    }
#endif
