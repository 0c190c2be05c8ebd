import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Nobody reads what a program writes, as behind `less`, after Ctrl-S, or in a session that hangs.
    @Suite(.takingTurns) struct UnreadOutputTests {
        /// Starts a command on one processor, so that its tasks share one thread. Its output goes where nobody reads.
        ///
        /// - Parameter errors: where its errors go: `2>&1`, or to where the test finds them.
        private func start(_ arguments: [String], errors: String = "", on kitchen: Machine) throws
            -> PeerProcess
        {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let processor = try #require(status.firstMatch(of: /Cpus_allowed_list:\s+(\d+)/)).output.1
            return try kitchen.scene.start(
                [
                    "-c", "exec taskset -c \"$@\" \(errors)", "sh", String(processor),
                    PeerProcess.program.path,
                ] + arguments + ["--store", kitchen.store.path, "--no-discovery"],
                of: URL(fileURLWithPath: "/bin/sh"), output: kitchen.scene.fullPipe())
        }

        /// What it says first, that a scorebook begins, keeps its only thread.
        @Test(
            arguments: [(["listen"], 0), (["connect", "127.0.0.1:1", "--once"], 75)] as [([String], Int32)])
        func aSignalEndsAProgramWhoseThreadsAllWait(command: ([String], Int32)) async throws {
            try await withMachine { kitchen in
                let process = try start(command.0, errors: "2>&1", on: kitchen)
                try await eventually("a thread that waits for a reader") {
                    try process.writes(to: STDERR_FILENO)
                }
                process.signal(SIGTERM)
                #expect(try await process.end() == command.1)
            }
        }

        /// The log, the page and the listener all have something to say.
        @Test func machinesSyncWithAProgramThatNobodyReads() async throws {
            try await withPair { kitchen, study in
                let process = try start(
                    [
                        "listen", "--host", "127.0.0.1", "--port", "0", "--verbose", "--web", "--web-port",
                        "0",
                    ], errors: "2>&1", on: kitchen)
                let port = try await eventually("a listener") {
                    try kitchen.rows(
                        "SELECT port FROM grdb_sync_listener WHERE process = \(process.number)"
                    ).first
                }
                for name in ["Catan", "Hearts"] {
                    try await study.addGame(name)
                    try await study.peer("connect", "127.0.0.1:\(port)", "--once")
                    #expect(try await haveEqualDigests(kitchen, study))
                }
                #expect(try await process.endAtOnce() == 0)
            }
        }

        /// As after `listen --verbose 2>log | less`.
        @Test func theLogGoesOnWhereOnlyTheOutputIsUnread() async throws {
            try await withMachine { kitchen in
                try await kitchen.makeStore()
                let process = try start(
                    ["listen", "--host", "127.0.0.1", "--port", "0", "--verbose"], on: kitchen)
                let port = try await eventually("a listener") {
                    try kitchen.rows("SELECT port FROM grdb_sync_listener").first
                }
                try await eventually("a thread that waits for a reader") {
                    try process.writes(to: STDOUT_FILENO)
                }
                let number = try #require(Int(port))
                try Socket.connected(to: number).send("GET / HTTP/1.1\r\n\r\n".utf8)
                try await eventually("a line of the log") { process.errors.contains("a session with") }
                #expect(try await process.endAtOnce() == 0)
            }
        }

        /// A code that nobody has seen ends in good order, and whoever asked for it hears why nothing came of it.
        @Test func aCodeThatNobodyReadsIsTakenBack() async throws {
            try await withMachine { kitchen in
                try await kitchen.makeStore()
                let process = try start(["pair", "--port", "0"], on: kitchen)
                func isShown() throws -> Bool {
                    try !kitchen.rows("SELECT id FROM grdb_sync_pairingCode").isEmpty
                }
                try await eventually("a code") { try isShown() }
                process.signal(SIGTERM)
                try await eventually("the end of the code") { try !isShown() }
                #expect(try await process.endAtOnce() == 75)
                #expect(try await process.outcome().isSentence(75))
            }
        }
    }

    extension PeerProcess {
        /// Whether a thread is in a call that writes to a descriptor.
        fileprivate func writes(to descriptor: Int32) throws -> Bool {
            let threads = "/proc/\(number)/task"
            return try FileManager.default.contentsOfDirectory(atPath: threads).contains { thread in
                // The number of the call, which is not the same on all processors, and what it was given.
                let call = try? String(contentsOfFile: "\(threads)/\(thread)/syscall", encoding: .utf8)
                let words = call?.split(separator: " ") ?? []
                return words.count > 1 && ["1", "64"].contains(words[0]) && words[1] == "0x\(descriptor)"
            }
        }
    }
#endif
