import Foundation
import TestSupport
import Testing

/// Whoever ends a command by a signal sees the same, whenever it comes.
@Suite(.takingTurns) struct SignalTests {
    #if os(Linux)
        /// Where the signal comes before there is anything to say goodbye to: the store is still kept by another program.
        @Test(
            arguments: [
                (["listen"], 0), (["connect", "127.0.0.1:1"], 0), (["connect", "127.0.0.1:1", "--once"], 75),
                (["verify", "127.0.0.1:1"], 75), (["reset", "--from", "127.0.0.1:1", "--yes"], 75),
            ] as [([String], Int32)], [SIGINT, SIGTERM])
        func aSignalBeforeTheStoreIsOpen(command: ([String], Int32), signal: Int32) async throws {
            try await withMachine { kitchen in
                try await kitchen.makeStore()
                let key = open(kitchen.store.appendingPathComponent("identity.key").path, O_RDONLY)
                defer { close(key) }
                try #require(flock(key, LOCK_EX) == 0)
                let process = try kitchen.start(command.0)
                try await eventually("a process that takes signals") {
                    try process.catches([SIGINT, SIGTERM])
                }
                process.signal(signal)
                let outcome = try await process.outcome()
                if command.1 == 0 {
                    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome)")
                } else {
                    #expect(outcome.isSentence(command.1), "\(outcome)")
                    #expect(outcome.errors.contains("run it again"), "\(outcome)")
                }
            }
        }
    #endif

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalAsSoonAsItListens(signal: Int32) async throws {
        try await withMachine { kitchen in
            for _ in 0..<10 {
                let listener = try await kitchen.listen()
                listener.process.signal(signal)
                let outcome = try await listener.process.outcome()
                #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome)")
            }
        }
    }

    #if os(Linux)
        @Test(arguments: [SIGINT, SIGTERM]) func aSignalWhileAFileIsWritten(signal: Int32) async throws {
            try await withMachine { kitchen in
                try await kitchen.importHousehold()
                let folder = kitchen.scene.directory.appendingPathComponent("stick", isDirectory: true)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                func files() throws -> [String] {
                    try FileManager.default.contentsOfDirectory(atPath: folder.path)
                }
                // An export that was faster than the signal is made again.
                try await eventually("an export that is cut off") {
                    let file = folder.appendingPathComponent("a.json")
                    let process = try kitchen.start(["export", file.path])
                    try await eventually("a file") { try !files().isEmpty }
                    process.signal(signal)
                    let outcome = try await process.outcome()
                    if outcome.exitCode == 0 {
                        try FileManager.default.removeItem(at: file)
                        return false
                    }
                    #expect(outcome.isSentence(75), "\(outcome)")
                    return true
                }
                #expect(try files().isEmpty)
            }
        }
    #endif

    #if os(Linux)
        /// A program that reads the output has stopped, as a terminal does after Ctrl-S. The end waits for it, but not for ever.
        @Test(arguments: [1, 2]) func aSignalWhileNobodyReadsTheOutput(signals: Int) async throws {
            try await withMachine { kitchen in
                try await kitchen.makeStore()
                let pipe = kitchen.scene.path("pipe")
                try #require(mkfifo(pipe, 0o600) == 0)
                let reader = open(pipe, O_RDWR | O_NONBLOCK)
                defer { close(reader) }
                // What it says first does not fit beside this.
                while write(reader, "x", 1) == 1 {}
                let process = try kitchen.start(["listen", "--port", "0"], output: pipe)
                try await eventually("a listener") {
                    try kitchen.rows("SELECT COUNT(*) FROM grdb_sync_listener") == ["1"]
                }
                process.signal(SIGTERM)
                if signals > 1 {
                    // Who sends it again later has had enough.
                    try await eventually("the end") {
                        process.signal(SIGTERM)
                        return !process.isRunning
                    }
                }
                #expect(try await process.end() == 0)
            }
        }
    #endif

    /// They are no crash, and whoever sends them wants the process to be gone.
    @Test(arguments: [SIGQUIT, SIGABRT]) func aSignalThatKills(signal: Int32) async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen()
            listener.process.signal(signal)
            let outcome = try await listener.process.outcome()
            #expect(outcome.exitCode == -signal && outcome.errors.isEmpty, "\(outcome)")
        }
    }
}

#if os(Linux)
    extension PeerProcess {
        /// Whether it decides itself what becomes of signals.
        fileprivate func catches(_ signals: [Int32]) throws -> Bool {
            let status = try String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") })
            let mask = try #require(UInt64(line.split(separator: "\t")[1], radix: 16))
            return signals.allSatisfy { mask & (1 << UInt64($0 - 1)) != 0 }
        }
    }
#endif
