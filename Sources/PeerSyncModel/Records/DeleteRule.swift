/// The effect on a record of the deletion of the record that it refers to. The names are Core Data's and CloudKit's.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The referring record goes with the deleted one.
    case cascade
    /// The reference becomes null.
    case nullify
    /// The store refuses the deletion while the referring record is there.
    case deny

    /// Whether the referring record can only be shown together with the one that it refers to. Otherwise its reference is
    /// empty while that one is not shown.
    package var needsTarget: Bool {
        switch self {
        case .cascade, .deny: true
        case .nullify: false
        }
    }
}
