import Foundation

/// A program of the system that was run to its end, and what it wrote.
struct SystemProgram {
    let isSuccess: Bool
    let output: String
    let errors: String

    /// Programs for administrators are not in everybody's path.
    private static let directories = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]

    /// Runs a program.
    ///
    /// - Returns: nil when it is not there, or cannot be started.
    static func run(_ name: String, _ arguments: String...) -> SystemProgram? { run(name, arguments) }

    static func run(_ name: String, _ arguments: [String]) -> SystemProgram? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = path.split(separator: ":").map(String.init) + Self.directories
        let candidates = directories.map { "\($0)/\(name)" }
        guard let program = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            return nil
        }
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        guard (try? process.run()) != nil else { return nil }
        // None of these programs writes so much to its errors that the pipe fills up while this reads the output.
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let error = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return SystemProgram(
            isSuccess: process.terminationReason == .exit && process.terminationStatus == 0,
            output: String(decoding: text, as: UTF8.self), errors: String(decoding: error, as: UTF8.self))
    }
}
