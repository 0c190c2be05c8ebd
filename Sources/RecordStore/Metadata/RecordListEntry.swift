/// A record in a list.
public struct RecordListEntry: Sendable, Hashable {
    public let name: String
    /// What a held record waits for: the name of a record that is not here, or a sentence.
    public let waitsFor: String?
    /// What its zone is called here.
    public let zone: String
}
