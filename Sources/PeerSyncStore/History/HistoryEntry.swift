import PeerSyncModel

/// A value that lost against another one when a peer's records came.
public struct HistoryEntry: Sendable, Hashable {
    /// A value, and who wrote it when.
    public struct Value: Sendable, Hashable {
        /// The value as a column of the table holds it: dates, references and files are text.
        public let value: FieldValue
        /// The time of the write, and the machine that wrote.
        public let stamp: Stamp
    }

    /// The record.
    public let name: RecordName
    /// The field; nil for the whole record: a deletion took it away. Its values then are null, and `lost` tells of the
    /// last write to the record.
    public let field: String?
    /// When this store noticed, in milliseconds since 1970.
    public let noticed: Int64
    /// The value that lost.
    public let lost: Value
    /// The value that won, or the deletion.
    public let won: Value
    /// Whether the lost value stood in the table of this store; otherwise it came too late from another machine.
    public let wasShown: Bool
}
