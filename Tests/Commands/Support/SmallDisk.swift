import Foundation

/// A directory that has little room, as one process sees it and nobody else; for Linux and root.
struct SmallDisk {
    let directory: URL
    let megabytes: Int
    /// The most that any file of the process may have, if there is such a limit; what is written beyond fails.
    var largestFile: Int?
    var start = Start.empty

    /// What the disk has when the process begins.
    enum Start {
        case empty
        /// What the directory has for everybody else.
        case filled
        /// That, and no room for anything more.
        case full
        /// What the directory has for everybody else, and nobody may write there, as after a fault of the disk.
        case readOnly
    }

    /// How a program is started that has the disk there, in the same process.
    func command(_ program: URL, _ arguments: [String]) -> (program: URL, arguments: [String]) {
        // In blocks of 512 bytes. The signal that goes with it would end the process.
        let limit = largestFile.map { "trap '' XFSZ && ulimit -f \($0 << 11) && " } ?? ""
        let mount = "mount -t tmpfs -o size=\(megabytes)m tmpfs \"$1\" && "
        let copy = "cp -a \"$1\" \"$1.copy\" && \(mount) cp -a \"$1.copy/.\" \"$1\" && rm -r \"$1.copy\" && "
        let begin =
            switch start {
            case .empty: mount
            case .filled: copy
            case .full: copy + Self.fill + " && "
            case .readOnly: copy + "mount -o remount,ro \"$1\" && "
            }
        let script = limit + begin + "shift && exec \"$@\""
        return (
            Network.tool("unshare"),
            ["--mount", "/bin/sh", "-c", script, "sh", directory.path, program.path] + arguments
        )
    }

    /// A script that takes what room there is in the directory that is its first argument.
    private static let fill = "{ dd if=/dev/zero of=\"$1/filler\" bs=4k 2>/dev/null; true; }"

    /// Takes the room that the disk of a process still has.
    func fill(of process: PeerProcess) throws {
        try Network.run(
            "nsenter", "--target", "\(process.number)", "--mount", "/bin/sh", "-c", Self.fill, "sh",
            directory.path)
    }

    /// Runs the program where the disk of another process is.
    func run(_ arguments: [String], beside process: PeerProcess, in scene: Scene) async throws -> Outcome {
        try await scene.start(
            ["--target", "\(process.number)", "--mount", PeerProcess.program.path] + arguments,
            of: Network.tool("nsenter")
        ).outcome()
    }

    /// A file of the directory, as a process sees it.
    func file(_ name: String, of process: PeerProcess) -> URL {
        URL(fileURLWithPath: "/proc/\(process.number)/root\(directory.path)/\(name)")
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
