import Foundation

extension Terminal {
    /// The columns of the terminal; as many as there may be if standard output is no terminal.
    static var width: Int { isOutputATerminal ? columns(STDOUT_FILENO) : .max }

    /// The columns of the terminal that standard error is.
    static var errorWidth: Int { columns(STDERR_FILENO) }

    private static func columns(_ descriptor: Int32) -> Int {
        if let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 {
            return columns
        }
        return size(descriptor).map { Int($0.ws_col) } ?? 80
    }

    private static func size(_ descriptor: Int32) -> winsize? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return size
    }

    /// Returns a title in bold, on a terminal with colours. See no-color.org.
    static func bold(_ text: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        guard isOutputATerminal, environment["NO_COLOR"]?.isEmpty ?? true, environment["TERM"] != "dumb"
        else { return text }
        return "\u{1B}[1m\(text)\u{1B}[m"
    }

    /// Writes lines; through a pager if they are more than the terminal has, as git does: $PAGER, or else `less`. An empty
    /// $PAGER, and `cat`, mean none.
    ///
    /// - Parameters:
    ///   - first: the first lines.
    ///   - next: gives more lines, if there are any; nobody asks for them after the pager has ended.
    static func writePages(_ first: String, next: () async throws -> String?) async throws {
        let pager = ProcessInfo.processInfo.environment["PAGER"] ?? "less"
        let lines = first.split(separator: "\n", omittingEmptySubsequences: false).count
        guard isOutputATerminal, isInputATerminal, !["", "cat"].contains(pager),
            let rows = size(STDOUT_FILENO)?.ws_row,
            lines >= Int(rows)
        else {
            write(first)
            while let text = try await next() { write(text) }
            return
        }
        setenv("LESS", "FRX", 0)
        // The pager takes Ctrl-C for itself.
        signal(SIGINT, SIG_IGN)
        var given = [first]
        var isOpen = false
        if let pages = popen(pager, "w") {
            isOpen = fputs(first + "\n", pages) >= 0 && fflush(pages) == 0
            while isOpen, let text = try await next() {
                given.append(text)
                isOpen = fputs(text + "\n", pages) >= 0 && fflush(pages) == 0
            }
            // The shell says 127 if there is no such program.
            guard pclose(pages) >> 8 == 127 else { return }
        }
        for text in given { write(text) }
        while let text = try await next() { write(text) }
    }
}
