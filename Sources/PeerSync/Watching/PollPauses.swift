import Synchronization

/// The growing pauses between polls after a write to the database's files, and the time after which polling stops. A
/// process writes a commit to the log some moments before others can see it: as long as the disk takes.
final class PollPauses: Sendable {
    private static let length: Duration = .milliseconds(128)
    private static let shortestPause: Duration = .microseconds(500)
    private static let longestPause: Duration = .milliseconds(8)

    private let lastWrite = Mutex<ContinuousClock.Instant?>(nil)

    /// Notes that the files were written just now.
    func begin() {
        lastWrite.withLock { $0 = .now }
    }

    /// Pauses before the next poll, longer with each.
    ///
    /// - Returns: false, at once, when the polling has lasted long enough.
    func pause() async -> Bool {
        guard let lastWrite = lastWrite.withLock({ $0 }) else { return false }
        let waited = ContinuousClock.now - lastWrite
        guard waited < Self.length else { return false }
        let pause = min(max(waited / 2, Self.shortestPause), Self.longestPause)
        return (try? await Task.sleep(for: pause)) != nil
    }
}
