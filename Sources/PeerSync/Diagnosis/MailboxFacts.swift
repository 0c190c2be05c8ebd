/// What the store notes of a mailbox: storage through which machines sync that are never on together.
public struct MailboxFacts: Sendable, Equatable {
    /// What this machine calls it.
    public var name: String
    /// Whether this machine has ever been in step with it.
    public var wasInStep: Bool
    /// Why it could not be used the last time, in a sentence; nil if it could.
    public var failure: String?
    /// The names here of the machines that were heard of through it.
    public var heard: Set<String>
    /// Why what a machine has left there cannot be read on, in a sentence each, by its name here.
    public var unreadable: [String: String]

    /// Makes facts; see the properties.
    public init(
        name: String, wasInStep: Bool, failure: String? = nil, heard: Set<String> = [],
        unreadable: [String: String] = [:]
    ) {
        self.name = name
        self.wasInStep = wasInStep
        self.failure = failure
        self.heard = heard
        self.unreadable = unreadable
    }
}
