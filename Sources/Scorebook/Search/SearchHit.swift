import PeerSync

/// A record that a search found.
public struct SearchHit: RecordListing, Equatable {
    /// The record.
    public let recordName: RecordName
    /// `person`, `game` or `match`.
    public let kind: String
    /// The name, or the game and the time of a match.
    public let title: String
    /// The place of the text where the words are.
    public let excerpt: String
    /// The name of its zone on this machine.
    public let zone: String
}
