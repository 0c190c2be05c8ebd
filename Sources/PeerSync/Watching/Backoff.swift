import Synchronization

/// The growing pauses between looks after the files were written, and how long to go on: a commit is written to the log some
/// moments before others can see it, as long as it takes to reach the disk.
final class Backoff: Sendable {
    private static let length: Duration = .milliseconds(128)
    private static let shortestPause: Duration = .microseconds(500)
    private static let longestPause: Duration = .milliseconds(8)

    private let lastWrite = Mutex<ContinuousClock.Instant?>(nil)

    /// The files were written just now.
    func begin() {
        lastWrite.withLock { $0 = .now }
    }

    /// Waits a little: the longer, the longer it was waited already.
    ///
    /// - Returns: false, at once, when it was waited long enough.
    func pause() async -> Bool {
        guard let lastWrite = lastWrite.withLock({ $0 }) else { return false }
        let waited = ContinuousClock.now - lastWrite
        guard waited < Self.length else { return false }
        let pause = min(max(waited / 4, Self.shortestPause), Self.longestPause)
        return (try? await Task.sleep(for: pause)) != nil
    }
}
