/// A record in a list.
public struct RecordListEntry: Sendable, Hashable {
    /// The record's name: its type, `|~|`, and its key.
    public let name: String
    /// The record or condition that a held record waits for: the name of a missing record, or a sentence.
    public let waitsFor: String?
    /// The name of its zone on this machine.
    public let zone: String
}
