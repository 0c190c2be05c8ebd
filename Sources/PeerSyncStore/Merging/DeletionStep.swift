import PeerSyncModel

/// One step of a deletion.
public struct DeletionStep: Sendable, Hashable, CustomStringConvertible {
    /// What a step does to a record.
    public enum Action: String, Sendable, Hashable {
        /// Makes a reference null.
        case nullify
        /// Removes the record.
        case delete
    }

    /// The record.
    public let name: RecordName
    /// What happens to it.
    public let action: Action
    /// The reference that led here; nil for the record that the caller deletes.
    public let field: String?

    public var description: String { "\(action.rawValue) \(name)" + (field.map { " (\($0))" } ?? "") }
}
