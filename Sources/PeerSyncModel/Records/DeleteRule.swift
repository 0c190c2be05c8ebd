/// The effect on a record of the deletion of the record that it refers to. The names are Core Data's and CloudKit's.
public enum DeleteRule: String, Sendable, Hashable {
    /// The referring record goes with the deleted one.
    case cascade
    /// The reference becomes null.
    case nullify
    /// The store refuses the deletion while the referring record is there.
    case deny
}
