/// The size of one batch. The other side applies a batch in one transaction.
///
/// A batch grows until it is large enough and its last group is complete: records that were changed together arrive
/// together. The store only splits a group that is larger than the largest batch.
package struct BatchLimit: Sendable {
    /// The number of records that is enough for a batch.
    package var records: Int
    /// The number of bytes, roughly, that is enough for a batch.
    package var bytes: Int
    /// The most records in a batch.
    package var groupRecords: Int
    /// The most bytes in a batch; only its last record may pass this limit.
    package var groupBytes: Int

    /// The store copies a zone with more records than this in order of name (``WholeCopy``), which splits groups.
    package var recordsCopiedInGroups: Int

    package init(
        records: Int, bytes: Int, groupRecords: Int, groupBytes: Int, recordsCopiedInGroups: Int = 10_000
    ) {
        self.recordsCopiedInGroups = recordsCopiedInGroups
        self.records = records
        self.bytes = bytes
        self.groupRecords = groupRecords
        self.groupBytes = groupBytes
    }

    package static let standard = BatchLimit(
        records: 5_000, bytes: 1 << 20, groupRecords: 10_000, groupBytes: 6 << 20)
}
