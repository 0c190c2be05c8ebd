import Foundation
import GRDB

/// A machine with a database, on which the programs of the example run.
struct Machine {
    let database: URL

    init(_ name: String, in directory: URL) {
        database = directory.appendingPathComponent("\(name).sqlite")
    }

    /// Runs a program to its end.
    ///
    /// - Returns: what it printed.
    @discardableResult
    func run(_ program: String, _ arguments: String...) async throws -> String {
        let run = try start(program, arguments)
        let output = await run.rest()
        guard run.exitCode == 0 else { throw Failure(description: run.errors()) }
        return output
    }

    /// Starts `watch` of a program, which also syncs if the program can.
    ///
    /// - Parameter peer: the machine to pair with, and its code.
    func watch(_ program: String, port: Int, pairingWith peer: [String] = []) throws -> RunningProgram {
        try start(program, ["watch", "--port", "\(port)"] + peer)
    }

    private func start(_ program: String, _ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(program, arguments + ["--database", database.path])
    }

    /// All rows of the app's tables.
    func rows() throws -> [String: [Row]] {
        try DatabaseQueue(path: database.path).read { db in
            var rows: [String: [Row]] = [:]
            for table in ["todoList", "item", "tag", "itemTag"] {
                rows[table] = try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1, 2")
            }
            try db.checkForeignKeys()
            return rows
        }
    }
}

/// A program of the example that was started. What it prints is read line by line, so nobody has to ask again and again.
final class RunningProgram {
    private let process = Process()
    private let input = Pipe()
    private let errorPipe = Pipe()
    private var lines: AsyncStream<String>.Iterator
    private let limit: Task<Void, any Error>

    init(_ program: String, _ arguments: [String]) throws {
        let output = Pipe()
        lines = Self.lines(of: output.fileHandleForReading).makeAsyncIterator()
        process.executableURL = Self.directory.appendingPathComponent(program)
        process.arguments = arguments
        // Nobody on the network of this computer is to hear of the tests: without a bus there is no Avahi.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"]) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errorPipe
        try process.run()
        // A test takes seconds. A program that is still there is stuck, or shows something else than the test waits for.
        limit = Task { [number = process.processIdentifier] in
            try await Task.sleep(for: .seconds(60))
            kill(number, SIGTERM)
        }
    }

    deinit { stop() }

    /// The directory of the programs: SwiftPM builds them beside the tests.
    private static let directory: URL = {
        let bundle = Bundle(for: RunningProgram.self).bundleURL
        return bundle.pathExtension == "xctest" ? bundle.deletingLastPathComponent() : bundle
    }()

    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        AsyncStream { lines in
            Thread.detachNewThread {
                var rest = Data()
                while true {
                    let data = handle.availableData
                    guard !data.isEmpty else { break }
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        lines.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                lines.finish()
            }
        }
    }

    /// Waits for the next line; nil if the program has ended.
    func line() async -> String? { await lines.next(isolation: #isolation) }

    /// Waits until it shows this, and has nothing to send. The lines about sync come after the lists, and then an empty one.
    func shows(_ lists: String) async throws {
        var shown: [String] = []
        var last = ""
        while let line = await line() {
            guard line.isEmpty else {
                shown.append(line)
                continue
            }
            let end = shown.firstIndex { $0.hasPrefix("unsent: ") } ?? shown.endIndex
            last = shown.joined(separator: "\n")
            if shown[..<end].joined(separator: "\n") == lists, shown[end...].first == "unsent: 0" { return }
            shown = []
        }
        throw Failure(description: "expected:\n\(lists)\nshown last:\n\(last)\n\(errors())")
    }

    /// Reads to the end of the program.
    func rest() async -> String {
        var all: [String] = []
        while let line = await line() { all.append(line) }
        return all.joined(separator: "\n")
    }

    /// Types a line.
    func type(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    var exitCode: Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// What it wrote to standard error. It has to end first.
    func errors() -> String {
        stop()
        return String(decoding: errorPipe.fileHandleForReading.availableData, as: UTF8.self)
    }

    func stop() {
        limit.cancel()
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}
