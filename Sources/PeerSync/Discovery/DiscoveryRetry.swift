/// The growing pauses between attempts to use the system's service for discovery.
enum DiscoveryRetry {
    private static let firstPause: Duration = .milliseconds(500)
    private static let longestPause: Duration = .seconds(8)

    /// Runs `body` again and again until the task is cancelled.
    ///
    /// - Parameters:
    ///   - body: works until it throws.
    ///   - onFailure: called each time.
    static func run(
        _ body: () async throws -> Void, onFailure: (any Error) -> Void
    ) async {
        var pause = firstPause
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            do {
                try await body()
            } catch {
                if Task.isCancelled { return }
                onFailure(error)
            }
            if ContinuousClock.now - begin > longestPause { pause = firstPause }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, longestPause)
        }
    }
}
