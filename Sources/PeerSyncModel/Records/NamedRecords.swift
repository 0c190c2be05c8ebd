/// The records that a store has read by name for one batch.
package struct NamedRecords: Sendable, Hashable {
    /// The states of the records as they travel, in the order of the names. The store leaves out records that it does not
    /// know, and those that are too large.
    package var records: [RecordState]
    /// The number of names, from the first on, that the store has dealt with. It stops when the batch is large enough.
    package var namesRead: Int

    package init(records: [RecordState] = [], namesRead: Int = 0) {
        self.records = records
        self.namesRead = namesRead
    }
}
