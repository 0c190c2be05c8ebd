import Foundation

/// A process that takes the hosts of a network away, with all that runs there and with their buses, when the test is over,
/// also if somebody has killed the test.
///
/// It waits for the end of a pipe whose other side only the test has.
final class Keeper {
    private static let script = """
        trap '' HUP INT QUIT TERM
        while read -r line; do :; done
        for host in $(ls /run/netns | grep -E "^$1(-[0-9]+)?$"); do
            ip netns pids "$host" | xargs -r kill -9
            ip netns delete "$host"
        done
        rm -f /tmp/"$1"-*.bus
        """

    private let process = Process()
    private let pipe = Pipe()

    /// - Parameter network: what the names of the namespaces begin with.
    init(of network: String) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "sh", network]
        process.environment = ["PATH": "/usr/sbin:/sbin:/usr/bin:/bin"]
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // Otherwise a process that begins at this moment would keep it open as well.
        _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
    }

    /// Has everything taken away, and waits for that.
    func clear() {
        try? pipe.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
