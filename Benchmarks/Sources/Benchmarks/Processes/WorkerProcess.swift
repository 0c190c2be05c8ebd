import Foundation

/// Another process of this program, which answers each line that it is sent with one line of JSON, and ends when there are
/// no more.
final class WorkerProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter arguments: the subcommand and what it needs.
    init(_ arguments: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Ends the process, and waits for its end.
    func end() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// The next answer.
    ///
    /// - Throws: ``Failed`` when the process ends instead.
    func answer<Answer: Decodable>(_: Answer.Type = Answer.self) throws -> Answer {
        guard let line = line() else {
            process.waitUntilExit()
            throw Failed(status: process.terminationStatus)
        }
        return try JSONDecoder().decode(Answer.self, from: line)
    }

    /// Sends a line, and reads the answer.
    func ask<Answer: Decodable>(_ question: String, _: Answer.Type = Answer.self) throws -> Answer {
        try input.fileHandleForWriting.write(contentsOf: Data((question + "\n").utf8))
        return try answer()
    }

    private func line() -> Data? {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            if byte == Data("\n".utf8) { return line }
            line += byte
        }
        return nil
    }

    /// The process ended without an answer; what went wrong it has written to standard error.
    struct Failed: Error, CustomStringConvertible {
        let status: Int32

        var description: String { "a process of the benchmark ended with status \(status)" }
    }

    /// Writes an answer, in such a process.
    static func respond(_ answer: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
    }
}
