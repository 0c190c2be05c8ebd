import PeerSyncModel

/// A row or a record of this store that sync does not carry to other machines, or not as the row has it.
public struct UnsyncedRecord: Sendable, Hashable {
    /// A stable name of the reason; later versions may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The row's key cannot be in the name of a record. A new key mends it.
        public static let name = Reason(description: "name")
        /// The record takes more than ``RecordStore/maximumRecordSize``. It travels again once it is smaller.
        public static let size = Reason(description: "size")
        /// The table refuses the text that names a file, by a CHECK or a trigger, so the row keeps what it has there: the bytes that
        /// a program wrote. Other machines get the record and the file. One whose table refuses the text, too, holds the record. A
        /// table that takes the text mends it.
        public static let file = Reason(description: "file")
        /// A text of the row is no UTF-8, as one that a program has made of bytes. Other machines get it with U+FFFD in place of what
        /// is not, and the row keeps it. Another text mends it.
        public static let text = Reason(description: "text")
    }

    /// The table of the row.
    public let table: String
    /// The row's key, for people: it shows control characters as `\u{…}`, a BLOB as `x'…'`.
    public let name: String
    /// Why it stays here, or stays as it is.
    public let reason: Reason
}
