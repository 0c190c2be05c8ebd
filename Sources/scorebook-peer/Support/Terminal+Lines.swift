import Foundation
import NIOPosix

extension Terminal {
    /// Shows a text on standard error, without a line break, before somebody types.
    static func prompt(_ text: String) {
        ProgressLine.shared.clear()
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Reads a line of the standard input.
    ///
    /// - Returns: nil at its end.
    static func nextLine() async throws -> String? {
        try await NIOThreadPool.singleton.runIfActive { readLine() }
    }
}
