/// The growing pauses between attempts to use the system's service for discovery.
struct DiscoveryRetry {
    private static let firstPause: Duration = .milliseconds(500)
    private static let longestPause: Duration = .seconds(8)

    private var pause = Self.firstPause

    /// Runs `body` again and again until the task is cancelled.
    ///
    /// - Parameters:
    ///   - body: works until it throws.
    ///   - onFailure: called each time.
    static func run(
        _ body: () async throws -> Void, onFailure: (any Error) -> Void
    ) async {
        var retry = DiscoveryRetry()
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            do {
                try await body()
            } catch {
                if Task.isCancelled { return }
                onFailure(error)
            }
            if ContinuousClock.now - begin > Self.longestPause { retry.pause = Self.firstPause }
            guard (try? await Task.sleep(for: retry.pause)) != nil else { return }
            retry.pause = min(retry.pause * 2, Self.longestPause)
        }
    }
}
