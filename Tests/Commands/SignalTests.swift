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
                let process = try kitchen.start(["listen", "--port", "0"], output: kitchen.scene.fullPipe())
                try await eventually("a listener") {
                    try kitchen.rows("SELECT COUNT(*) FROM grdb_sync_listener") == ["1"]
                }
                process.signal(SIGTERM)
                #expect(try await (signals > 1 ? process.endAtOnce() : process.end()) == 0)
            }
        }

        /// So ends a terminal, or a session at another computer. What began with `nohup` outlives it.
        @Test(arguments: [("--default-signal=HUP", true), ("--ignore-signal=HUP", false)])
        func theEndOfATerminal(before: String, isTheEnd: Bool) async throws {
            try await withMachine { kitchen in
                try await kitchen.makeStore()
                let process = try kitchen.scene.start(
                    [
                        before, PeerProcess.program.path, "listen", "--port", "0", "--no-discovery",
                        "--store", kitchen.store.path,
                    ], of: URL(fileURLWithPath: "/usr/bin/env"))
                try await eventually("a listener") {
                    try kitchen.rows("SELECT COUNT(*) FROM grdb_sync_listener") == ["1"]
                }
                #expect(try process.catches([SIGHUP]) == isTheEnd)
                process.signal(isTheEnd ? SIGHUP : SIGTERM)
                #expect(try await process.end() == 0)
            }
        }

        @Test func theFileThatABrowserSendsGoesWithTheProgram() async throws {
            try await withMachine { kitchen in
                let folder = kitchen.scene.directory.appendingPathComponent("temporary", isDirectory: true)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                func uploads() throws -> [String] {
                    try FileManager.default.contentsOfDirectory(atPath: folder.path)
                        .filter { $0.hasPrefix("scorebook-upload") }
                }
                let process = try kitchen.scene.start(
                    ["web", "--port", "0", "--store", kitchen.store.path, "--new"],
                    environment: ["TMPDIR": folder.path])
                let socket = try await Self.halfAnUpload(to: process)
                defer { socket.shutDown() }
                try await eventually("a file") { try !uploads().isEmpty }
                #expect(try await process.endAtOnce() == 0)
                #expect(try uploads().isEmpty)
            }
        }

        /// Begins to send a file to import to the page, as a browser that was let in.
        private static func halfAnUpload(to page: PeerProcess) async throws -> Socket {
            let output = try await page.output(matching: /the page is at \S+\n/)
            let link = try #require(output.firstMatch(of: /http:\/\/(127\.0\.0\.1:(\d+))(\S+)/)).output
            let (host, port, path) = (link.1, try #require(Int(link.2)), link.3)
            let entrance = try Socket.connected(to: port)
            try entrance.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
            let answer = String(decoding: try entrance.receive(), as: UTF8.self)
            let cookie = try #require(answer.firstMatch(of: /(?i)set-cookie: ([^;\r]+)/)).output.1
            let head = [
                "POST /files/import HTTP/1.1", "Host: \(host)", "Origin: http://\(host)", "Cookie: \(cookie)",
                "Content-Type: multipart/form-data; boundary=XX", "Content-Length: 1000000", "", "--XX",
                "Content-Disposition: form-data; name=\"file\"; filename=\"a.json\"", "", "{",
            ]
            let upload = try Socket.connected(to: port)
            try upload.send(head.joined(separator: "\r\n").utf8)
            return upload
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
