import Dispatch
import Foundation
import Synchronization

/// The log on standard error. Whoever logs never waits for a reader, and what waits does not grow without limit.
final class WaitingLog: TextOutputStream, Sendable {
    static let shared = WaitingLog()

    /// The most lines that wait. If nobody reads them, further ones are lost.
    static let limit = 1000

    private struct State {
        var lines: [String] = []
        var lost = 0
    }

    private let state = Mutex(State())
    /// Not that of standard output: the log may go to a file while nobody reads the output.
    private let queue = DispatchQueue(label: "log")

    /// Takes a line with its end.
    func write(_ line: String) {
        let isFirst = state.withLock { state in
            guard state.lines.count < Self.limit else {
                state.lost += 1
                return false
            }
            state.lines.append(line)
            return state.lines.count == 1
        }
        if isFirst { queue.async { self.flush() } }
    }

    /// Writes what waits, after what is being written.
    ///
    /// - Parameter deadline: until when it waits for that.
    func flush(waitingUntil deadline: DispatchTime) {
        queue.wait(until: deadline)
        flush()
    }

    /// Writes what waits, and how much is lost.
    private func flush() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state
        }
        var lines = waiting.lines
        if waiting.lost > 0 {
            lines.append("lost \(waiting.lost.counted("line")) of the log: nobody read it in time\n")
        }
        guard !lines.isEmpty else { return }
        try? FileHandle.standardError.write(contentsOf: Data(lines.joined().utf8))
    }
}
