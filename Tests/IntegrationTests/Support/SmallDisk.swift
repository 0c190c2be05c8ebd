import Foundation

/// A directory that has little room, as one process sees it and nobody else; for Linux and root.
struct SmallDisk {
    let directory: URL
    let megabytes: Int
    /// The most that any file of the process may have, if there is such a limit; what is written beyond fails.
    var largestFile: Int?

    /// How a program is started that has the disk there, in the same process.
    func command(_ program: URL, _ arguments: [String]) -> (program: URL, arguments: [String]) {
        // In blocks of 512 bytes. The signal that goes with it would end the process.
        let limit = largestFile.map { "trap '' XFSZ && ulimit -f \($0 << 11) && " } ?? ""
        let script = limit + "mount -t tmpfs -o size=\(megabytes)m tmpfs \"$1\" && shift && exec \"$@\""
        return (
            Network.tool("unshare"),
            ["--mount", "/bin/sh", "-c", script, "sh", directory.path, program.path] + arguments
        )
    }

    /// Gives the disk of a process more room.
    func grow(to megabytes: Int, of process: PeerProcess) throws {
        try Network.run(
            "nsenter", "--target", "\(process.number)", "--mount", "mount", "-o",
            "remount,size=\(megabytes)m",
            directory.path)
    }

    /// The files that have come, from the view of a process.
    func files(of process: PeerProcess) -> [String] {
        let root = URL(fileURLWithPath: "/proc/\(process.number)/root" + directory.path)
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? [])
            .filter { $0.deletingLastPathComponent().lastPathComponent.count == 2 }.map(\.lastPathComponent)
    }
}
