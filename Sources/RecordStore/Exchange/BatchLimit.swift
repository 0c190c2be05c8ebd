/// How much one batch may hold. A batch is applied in one transaction at the other side.
///
/// A batch goes on until it is large enough and the group that it is in is complete: records that were changed
/// together arrive together. Only a group that is itself larger than the greatest batch is taken apart.
package struct BatchLimit: Sendable {
    /// A batch of this many records is large enough.
    package var records: Int
    /// A batch of about this many bytes is large enough.
    package var bytes: Int
    /// No batch holds more records.
    package var groupRecords: Int
    /// No batch holds more bytes, but for the record that passes the limit.
    package var groupBytes: Int

    /// A zone of more records is copied as a whole in order of name (``WholeCopy``), and groups are taken apart.
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
