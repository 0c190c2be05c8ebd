import Foundation
import Testing

/// Another time than this computer's, for the processes that are started with it.
///
/// libfaketime stands between a process and the system's clock; scripts/install-dependencies installs it.
enum ShiftedClock {
    private static let directories =
        ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"]
        + ["/usr/lib"].flatMap { parent in
            ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []).map { "\(parent)/\($0)" }
        }

    /// What the environment of a process has to say.
    ///
    /// - Parameter shift: as libfaketime reads it: `+2h`, `-1d`.
    static func environment(_ shift: String) throws -> [String: String] {
        #if canImport(Darwin)
            let (variable, file) = ("DYLD_INSERT_LIBRARIES", "faketime/libfaketime.1.dylib")
        #else
            let (variable, file) = ("LD_PRELOAD", "faketime/libfaketime.so.1")
        #endif
        let library = directories.map { "\($0)/\(file)" }.first { FileManager.default.fileExists(atPath: $0) }
        return [
            variable: try #require(library, "libfaketime is missing; run scripts/install-dependencies"),
            "FAKETIME": shift,
            // Deadlines and pauses go by the clock that nobody sets.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// How a program is to be started under another time.
    ///
    /// In the process that sees it first, the library changes the environment, and Swift then does not find the
    /// arguments, which it looks for beside it; so a shell comes first, in the same process.
    static func command(_ program: URL, _ arguments: [String]) -> (program: URL, arguments: [String]) {
        #if canImport(Darwin)
            (program, arguments)
        #else
            (URL(fileURLWithPath: "/bin/sh"), ["-c", "exec \"$0\" \"$@\"", program.path] + arguments)
        #endif
    }

    /// Takes away what the library leaves behind in shared memory because of that.
    static func clear(after process: Int32) {
        for name in ["faketime_shm_\(process)", "sem.faketime_sem_\(process)"] {
            try? FileManager.default.removeItem(atPath: "/dev/shm/\(name)")
        }
    }
}
