import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What this process has taken so far.
struct ResourceUsage: Codable {
    /// Of all threads, in user and system mode.
    var cpuSeconds: Double
    /// The greatest resident size.
    var peakMiB: Double

    static func current() -> ResourceUsage {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
            let peak = Double(usage.ru_maxrss) / 1_048_576
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            // The system's own count goes on from the process that started this one.
            let peak = highWaterMark() ?? Double(usage.ru_maxrss) / 1024
        #endif
        return ResourceUsage(cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), peakMiB: peak)
    }

    /// What was taken since an earlier moment; the peak is that of the whole time.
    func since(_ earlier: ResourceUsage) -> ResourceUsage {
        ResourceUsage(cpuSeconds: cpuSeconds - earlier.cpuSeconds, peakMiB: peakMiB)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func highWaterMark() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Double($0.split(separator: " ").dropLast().last ?? "") }.map { $0 / 1024 }
    }
}
