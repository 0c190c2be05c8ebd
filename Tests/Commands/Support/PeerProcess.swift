import Foundation
import TestSupport
import Testing

/// A scorebook-peer, or another peer, that was started. What it writes goes into files, so that no pipe can fill up and
/// stop it.
final class PeerProcess {
    private let name: String
    let arguments: [String]
    private let process = Process()
    private let files: URL
    /// What it wrote up to the last look, and the events in that. Whoever waits looks often, and mostly nothing is new.
    private var read: (output: String, events: [Event]) = ("", [])
    private var known: Int32?
    /// The signals that the test has sent.
    private var sent: Set<Int32> = []

    /// The directory that it runs in, its own.
    var directory: URL { files }

    /// - Parameters:
    ///   - program: what to start.
    ///   - terminal: what the process reads from, if somebody is there to answer it.
    ///   - output: a file or device that gets its output, if that is not to be read here.
    ///   - files: a new directory for what the process writes.
    init(
        _ program: URL, _ arguments: [String], environment: [String: String], host: Network.Host?,
        terminal: PseudoTerminal? = nil, disk: SmallDisk? = nil, output: String? = nil, files: URL
    ) throws {
        name = program.lastPathComponent
        self.arguments = arguments
        self.files = files
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        var command = (program, arguments)
        if environment["FAKETIME"] != nil { command = ShiftedClock.command(command.0, command.1) }
        if let disk { command = disk.command(command.0, command.1) }
        if let host { command = host.command(command.0, command.1) }
        (process.executableURL, process.arguments) = command
        process.environment = environment
        process.currentDirectoryURL = files
        process.standardInput = terminal?.otherSide ?? FileHandle.nullDevice
        let ownOutput = try Self.emptyFile(files.appendingPathComponent("output"))
        let output = output.flatMap { FileHandle(forWritingAtPath: $0) } ?? ownOutput
        let errors = try Self.emptyFile(files.appendingPathComponent("errors"))
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // Foundation keeps a process and its files for ever. With 1,300 open files it reads beyond the list of them when it starts
        // another process, and crashes.
        for file in Set([ownOutput, output, errors]) { try file.close() }
    }

    private static func emptyFile(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }

    /// The program under test, which SwiftPM builds beside the tests.
    static let program: URL = {
        let bundle = Bundle(for: PeerProcess.self).bundleURL
        let directory = bundle.pathExtension == "xctest" ? bundle.deletingLastPathComponent() : bundle
        return directory.appendingPathComponent("scorebook-peer")
    }()

    // MARK: What it wrote

    var output: String { text("output") }
    var errors: String { text("errors") }

    private func text(_ name: String) -> String {
        let data = try? Data(contentsOf: files.appendingPathComponent(name))
        return data.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The events that it has written so far, of all or of one name.
    func events(_ name: String? = nil) throws -> [Event] {
        let output = output
        if output != read.output {
            // A line without its end is still being written.
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            read = (output, try lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) })
        }
        return read.events.filter { name == nil || $0.event == name }
    }

    /// Waits for an event.
    ///
    /// - Parameter count: how many events of that name there have to be; the last of them is returned.
    @discardableResult
    func event(_ name: String, count: Int = 1) async throws -> Event {
        try await eventually("event \(name) of \(self)") {
            // Asked first: what it wrote before it ended counts.
            let hasEnded = !isRunning
            let found = try events(name)
            if found.count >= count { return found[count - 1] }
            if hasEnded { throw UnexpectedEnd(process: description) }
            return nil
        }
    }

    /// Waits for a text that people read.
    ///
    /// - Returns: all that it has written so far.
    @discardableResult
    func output(matching form: Regex<Substring>) async throws -> String {
        try await eventually("text in the output of \(self)") {
            let hasEnded = !isRunning
            let output = output
            if output.firstMatch(of: form) != nil { return output }
            if hasEnded { throw UnexpectedEnd(process: description) }
            return nil
        }
    }

    // MARK: Its end

    /// How the process has ended: its exit code, or the negative number of the signal that ended it; nil while it runs.
    ///
    /// The system says so, not Foundation: Foundation takes a process to be running as long as anybody has a file that the
    /// process inherited, and a process that closes this file keeps it from noticing the end of all others.
    private var ending: Int32? {
        if let known { return known }
        var info = siginfo_t()
        let result = waitid(P_PID, id_t(number), &info, WEXITED | WNOHANG | WNOWAIT)
        if result == 0 {
            guard info.processIdentifier == number else { return nil }
            known = info.si_code == CLD_EXITED ? info.status : -info.status
        } else if errno == ECHILD, !process.isRunning {
            // Foundation has collected it already.
            let status = process.terminationStatus
            known = process.terminationReason == .exit ? status : -status
        }
        return known
    }

    var isRunning: Bool { ending == nil }

    var number: Int32 { process.processIdentifier }

    /// Whether the system had to end the process because of a fault in it.
    var hasCrashed: Bool {
        guard let ending, !sent.contains(-ending) else { return false }
        return [-SIGILL, -SIGTRAP, -SIGABRT, -SIGBUS, -SIGSEGV].contains(ending)
    }

    func signal(_ signal: Int32) {
        sent.insert(signal)
        if isRunning { kill(number, signal) }
    }

    /// Waits for the process to end.
    ///
    /// - Returns: its exit code; the negative number of the signal that ended it, if one did.
    func end(within limit: Duration = .seconds(30)) async throws -> Int32 {
        try await eventually("end of \(self)", within: limit) { ending }
    }

    /// Ends the process as somebody does who has had enough: sends SIGTERM until it has ended.
    ///
    /// - Returns: see ``end(within:)``.
    func endAtOnce() async throws -> Int32 {
        try await eventually("the end of \(self)") {
            signal(SIGTERM)
            return !isRunning
        }
        return try await end()
    }

    /// Waits for the process to end, and gives what it left behind.
    func outcome(within limit: Duration = .seconds(30)) async throws -> Outcome {
        let exitCode = try await end(within: limit)
        return Outcome(exitCode: exitCode, output: output, errors: errors)
    }

    /// Ends the process at once, on Linux with all that it has started, and waits for that.
    func destroy() {
        if isRunning {
            // On Linux, Foundation makes each process the leader of a group; elsewhere what the process has started goes on.
            kill(-number, SIGKILL)
            kill(number, SIGKILL)
            var info = siginfo_t()
            while waitid(P_PID, id_t(number), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        }
        ShiftedClock.clear(after: number)
    }
}

extension siginfo_t {
    #if canImport(Darwin)
        fileprivate var processIdentifier: Int32 { si_pid }
        fileprivate var status: Int32 { si_status }
    #else
        fileprivate var processIdentifier: Int32 { _sifields._sigchld.si_pid }
        fileprivate var status: Int32 { _sifields._sigchld.si_status }
    #endif
}

extension PeerProcess: CustomStringConvertible {
    var description: String {
        "\(name) \(arguments.joined(separator: " "))\noutput: \(output.suffix(2000))\nerrors: \(errors.suffix(2000))"
    }
}

/// What a command that has ended left behind.
struct Outcome {
    let exitCode: Int32
    let output: String
    let errors: String

    /// Whether this is a failure that was told in one sentence on standard error, as `error: …`, with at most a line
    /// `hint: …` behind it, and nothing else.
    func isSentence(_ exitCode: Int32) -> Bool {
        self.exitCode == exitCode && output.isEmpty
            && errors.wholeMatch(of: /error: .{10,}\n(hint: .{5,}\n)?/) != nil
    }
}

/// A process ended although more was expected of it.
struct UnexpectedEnd: Error {
    let process: String
}
