/// A record in a list.
public struct RecordListEntry: Sendable, Hashable {
    /// The record's name: its type, `|~|`, and its key.
    public let name: String
    /// What a held record waits for; nil if the record is in its table.
    public let waitsFor: HeldReason?
    /// The name of its zone on this machine.
    public let zone: String
}
