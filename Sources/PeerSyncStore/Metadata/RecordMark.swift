/// What a store knew of a record at one moment. Two marks of a record differ if something has changed it between them.
public struct RecordMark: Sendable, Hashable {
    /// Whether the record was deleted, or hidden with a deleted one. Otherwise it was in its table, or held.
    public let isOutOfSight: Bool
    /// The number of its last change.
    let change: Int64
}
