import Foundation

/// How many files and sockets this program may have open at once.
///
/// macOS gives 256 to a program. The page alone takes 128 connections of strangers, and 32 of each browser.
enum OpenFileLimit {
    static let wanted = 4096

    /// Raises the limit of this process on macOS, where its user may.
    static func raise() {
        #if canImport(Darwin)
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0, limit.rlim_cur < rlim_t(wanted) else { return }
            limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
            _ = setrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }
}
