import Foundation
import NIOPosix

/// Asking for what must not appear on the screen.
extension Terminal {
    /// Asks for a line that is not shown while somebody types it.
    ///
    /// - Returns: nil at the end of the input, or after Ctrl-C.
    static func secret(for question: String) async -> String? {
        try? FileHandle.standardError.write(contentsOf: Data((question + " ").utf8))
        let line = try? await NIOThreadPool.singleton.runIfActive { hiddenLine() }
        try? FileHandle.standardError.write(contentsOf: Data("\n".utf8))
        return line.flatMap(\.self)
    }

    private static func hiddenLine() -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var hidden = before
        // Without ISIG Ctrl-C is a character: a signal would leave a terminal that shows nothing.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG | ICANON)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) == 1 {
            switch byte {
            case 0x0A, 0x0D: return String(decoding: bytes, as: UTF8.self)
            case 0x03, 0x04: return nil
            // The whole character, which may have several bytes.
            case 0x08, 0x7F: while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            default: bytes.append(byte)
            }
        }
        return nil
    }
}
