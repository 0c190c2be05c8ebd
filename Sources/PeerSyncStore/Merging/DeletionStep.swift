import PeerSyncModel

/// One step of a deletion.
public struct DeletionStep: Sendable, Hashable, CustomStringConvertible {
    public enum Action: String, Sendable, Hashable {
        /// Makes a reference null.
        case nullify
        /// Removes the record.
        case delete
    }

    public let name: RecordName
    public let action: Action
    /// The reference that led here; nil for the record that the caller deletes.
    public let field: String?

    public var description: String { "\(action.rawValue) \(name)" + (field.map { " (\($0))" } ?? "") }
}
