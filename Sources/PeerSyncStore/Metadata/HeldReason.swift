import PeerSyncModel

/// What a held record waits for. The app has the words for people.
public enum HeldReason: Sendable, Hashable {
    /// A version of the app that knows records of this type.
    case unknownType(String)
    /// A record that it needs, which is not here, or is held itself.
    case record(RecordName)
    /// The row to which a column refers. Its key has no name for sync, so it has to be added here by hand.
    case row(column: String)
    /// Values in columns that are UNIQUE together: another row was first with them. The row's record, if it has one.
    case values(columns: [String], holder: RecordName?)
    /// A table whose keys have such names as the record has.
    case key
    /// Fields that the table accepts: a CHECK, a NOT NULL or a trigger refuses those that are here, or an index or a generated column
    /// cannot be computed from them.
    case fields
}
