import ArgumentParser
import Foundation
import NIOPosix
import PeerSync
import Scorebook
import Synchronization

/// The terminal, or the files and pipes to which the user redirected it.
enum Terminal {
    static let isErrorATerminal = isatty(STDERR_FILENO) == 1
    static let isOutputATerminal = isatty(STDOUT_FILENO) == 1
    static let isInputATerminal = isatty(STDIN_FILENO) == 1

    /// Returns whether a path names standard output. Then standard output gets only the content of the file.
    static func isStandardOutput(_ file: String?) -> Bool {
        ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(file)
    }

    /// Writes a line to standard output at once, so that a reading program sees it without delay.
    static func write(_ line: String) {
        ProgressLine.shared.clear()
        write(bytes: Data((line + "\n").utf8))
    }

    /// Writes to standard output. If that fails, ends the program, as a broken pipe would.
    static func write(bytes: Data) {
        do {
            try FileHandle.standardOutput.write(contentsOf: bytes)
        } catch {
            fail()
        }
    }

    /// Closes standard output. Some file systems report only then that earlier output is lost.
    static func close() {
        // The parent process may have closed it already.
        guard Foundation.close(STDOUT_FILENO) == 0 || errno == EBADF else { fail() }
    }

    /// Whether standard output is a pipe that nobody reads any more, as after `match list | head`.
    private static var hasReaderGone: Bool {
        // macOS tells nothing to whoever asks for nothing, and calls it a hang-up.
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        return poll(&output, 1, 0) == 1 && output.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Lets a write fail where nobody reads, where a signal would end this process otherwise.
    static func outliveReaders() { signal(SIGPIPE, SIG_IGN) }

    private static func fail() -> Never {
        if hasReaderGone { Ending.readerGone.take() }
        Ending.failure(
            Failure(.outputError, "the output cannot be written; check that there is room where it goes")
        ).take()
    }

    /// Writes a line to standard error.
    static func writeError(_ line: String) {
        ProgressLine.shared.clear()
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Writes a value as JSON: indented if it stands alone, on one line if it is one of many.
    static func write(json value: some Encodable, compact: Bool = false) throws {
        write(try text(json: value, compact: compact))
    }

    /// Returns a value as JSON that cannot steer a terminal. It has no infinite numbers, so these become texts.
    static func text(json value: some Encodable, compact: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            compact
            ? [.sortedKeys, .withoutEscapingSlashes] : [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return Display.printable(json: String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Asks a question to answer with y or n.
    ///
    /// - Returns: nil if standard input is no terminal, so that nobody can answer.
    static func confirm(_ question: String) async -> Bool? {
        guard isInputATerminal else { return nil }
        try? FileHandle.standardError.write(contentsOf: Data((question + " [y/N] ").utf8))
        let answer = try? await NIOThreadPool.singleton.runIfActive { readLine() ?? "" }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    /// Asks a question to answer with a line. Takes the question back when the task is cancelled.
    ///
    /// - Returns: nil at the end of the input, and for a question that was taken back.
    static func answer(to question: String) async -> String? {
        ProgressLine.shared.clear()
        // Discards what the user typed before the question.
        tcflush(STDIN_FILENO, TCIFLUSH)
        try? FileHandle.standardError.write(contentsOf: Data((question + " ").utf8))
        while !Task.isCancelled {
            let isThere = try? await NIOThreadPool.singleton.runIfActive {
                var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                return poll(&input, 1, 100) > 0
            }
            // A terminal also gives a part of a line, after Ctrl-D. Then this waits for the rest.
            if isThere == true { return try? await nextLine() }
        }
        writeError("(the question is taken back)")
        return nil
    }

    /// Asks a question to answer with y or n; see ``answer(to:)``.
    static func isConfirmed(_ question: String) async -> Bool {
        ["y", "yes"].contains((await answer(to: question + " [y/N]") ?? "").lowercased())
    }
}

/// One line on a terminal that changes as work goes on. It is silent anywhere else, and for work of less than a
/// second.
final class ProgressLine: Sendable {
    static let shared = ProgressLine()

    private struct State {
        var begin: ContinuousClock.Instant?
        var isShown = false
        var last: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Shows a text, at most ten times a second.
    func show(_ text: @autoclosure () -> String) {
        guard Terminal.isErrorATerminal else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            let begin = state.begin ?? now
            state.begin = begin
            guard now - begin > .seconds(1) else { return false }
            if let last = state.last, now - last < .milliseconds(100) { return false }
            state.last = now
            state.isShown = true
            return true
        }
        guard isDue else { return }
        // What is longer than a line stays on the terminal, and the next text is a further line.
        let line = Display.shortened(Display.printable(text()), to: Terminal.errorWidth - 1)
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K\(line)".utf8))
    }

    /// Shows a text and the seconds so far while `work` goes on.
    func during<Value: Sendable>(_ text: String, _ work: @escaping @Sendable () async throws -> Value)
        async throws
        -> Value
    {
        try await measuring(text) { _ in try await work() }
    }

    /// Shows a text and the seconds so far while `work` goes on; a bar and the time that is left, once `work` reports how much
    /// of how much is done.
    func measuring<Value: Sendable>(
        _ text: String,
        _ work: @escaping @Sendable (@escaping @Sendable (Int, Int) -> Void) async throws -> Value
    ) async throws -> Value {
        guard Terminal.isErrorATerminal else { return try await work { _, _ in } }
        let begin = ContinuousClock.now
        let part = Latest<(done: Int, total: Int)>()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    let time = ContinuousClock.now - begin
                    if let part = part.value {
                        self.show(
                            ProgressBar.text(
                                text, done: part.done, of: part.total, seconds: time / .seconds(1)))
                    } else {
                        self.show("\(text), \(time.components.seconds) s")
                    }
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            defer {
                group.cancelAll()
                clear()
            }
            return try await work { part.set(($0, $1)) }
        }
    }

    /// Removes the line, after the work or before other output.
    func clear() {
        let wasShown = state.withLock { state in
            defer {
                state.isShown = false
                state.begin = nil
            }
            return state.isShown
        }
        if wasShown { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
    }
}

extension Locale {
    /// How numbers are written within this program's sentences, whatever the region of the machine.
    static let ofSentences = Locale(identifier: "en_001")
}

extension Int {
    /// As in “1 record” and “1,200 records”.
    func counted(_ noun: String, plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }

    /// The number for people, with separators between thousands.
    var grouped: String {
        var digits = String(magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }
}
