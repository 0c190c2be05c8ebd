/// What happens to a record when the record it refers to is deleted. The names are Core Data's and CloudKit's.
public enum DeleteRule: String, Sendable, Hashable {
    /// The referring record goes with it.
    case cascade
    /// The reference becomes null.
    case nullify
    /// The deletion is refused while the referring record is there.
    case deny
}
