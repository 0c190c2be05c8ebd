import Foundation

/// A process of this machine, distinct from a later one with the same number.
package struct RunningProcess: Hashable, Sendable {
    package let number: Int32
    /// The start of the process, as the system gives it; nil where the system does not.
    package let start: String?

    package init(number: Int32, start: String?) {
        self.number = number
        self.start = start
    }

    package static let current = RunningProcess(
        number: ProcessInfo.processInfo.processIdentifier,
        start: start(of: ProcessInfo.processInfo.processIdentifier))

    /// Whether the process still runs. If the system knows no more than its number, it counts as running.
    package var isRunning: Bool {
        guard kill(number, 0) == 0 || errno == EPERM else { return false }
        guard let start, let found = Self.start(of: number) else { return true }
        return found == start
    }

    #if canImport(Darwin)
        private static func start(of number: Int32) -> String? {
            var process = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.size
            var query = [CTL_KERN, KERN_PROC, KERN_PROC_PID, number]
            guard sysctl(&query, UInt32(query.count), &process, &size, nil, 0) == 0, size > 0 else {
                return nil
            }
            let start = process.kp_proc.p_un.__p_starttime
            return "\(start.tv_sec).\(start.tv_usec)"
        }
    #else
        /// The clock ticks from the system's start to the start of the process, with the id of that run of the system.
        private static func start(of number: Int32) -> String? {
            guard let status = text("/proc/\(number)/stat"),
                let system = text("/proc/sys/kernel/random/boot_id"),
                // The program's name in brackets comes first, and may contain blanks and brackets itself.
                let end = status.lastIndex(of: ")")
            else { return nil }
            let fields = status[end...].split(separator: " ")
            guard fields.count > 20 else { return nil }
            return "\(system.prefix { !$0.isNewline }) \(fields[20])"
        }

        /// The content of a file of the system; nil when it is missing or this process may not read it.
        private static func text(_ path: String) -> String? {
            (try? PosixFile(path, O_RDONLY).read(at: 0, upTo: 4096)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    #endif
}
