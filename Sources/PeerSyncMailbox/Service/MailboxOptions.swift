import PeerSync

/// How often a running mailbox looks at its storage.
public struct MailboxOptions: Sendable {
    /// The time between two looks when nothing happens. Each takes between this and a quarter more, so that machines do not look in step.
    public let interval: Duration
    /// How long it waits after a change of this store for more changes, before it puts them.
    public let delay: Duration

    private static let longest: Duration = .seconds(365 * 86_400)

    /// Makes options.
    ///
    /// - Parameters:
    ///   - interval: see ``interval``. From 1 second to 1 year; outside of that, the nearest of these.
    ///   - delay: see ``delay``. From nothing to 1 year, likewise.
    public init(interval: Duration = .seconds(60), delay: Duration = .seconds(2)) {
        self.interval = interval.clamped(to: .seconds(1)...Self.longest)
        self.delay = delay.clamped(to: .zero...Self.longest)
    }
}
