/// How often a running mailbox looks at its storage.
public struct MailboxOptions: Sendable {
    /// The time between two looks when nothing happens. Each takes between this and a quarter more, so that machines do not look in step.
    public var interval: Duration
    /// How long it waits after a change of this store for more changes, before it puts them.
    public var delay: Duration

    /// Makes options.
    public init(interval: Duration = .seconds(60), delay: Duration = .seconds(2)) {
        self.interval = interval
        self.delay = delay
    }
}
