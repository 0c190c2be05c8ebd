/// What the store notes of a mailbox: storage through which machines sync that are never on together.
public struct MailboxFacts: Sendable, Equatable {
    /// What this machine calls it.
    public var name: String
    /// Whether this machine has ever been in step with it.
    public var wasInStep: Bool
    /// Whether it could not be used the last time.
    public var hasFailed: Bool
    /// The names here of the machines that were heard of through it.
    public var heard: Set<String>
    /// Those of them whose things there cannot be read on.
    public var unreadable: Set<String>

    /// Makes facts; see the properties.
    public init(
        name: String, wasInStep: Bool, hasFailed: Bool, heard: Set<String> = [], unreadable: Set<String> = []
    ) {
        self.name = name
        self.wasInStep = wasInStep
        self.hasFailed = hasFailed
        self.heard = heard
        self.unreadable = unreadable
    }
}
