import RecordStore
import SyncModel

/// What an import did.
public struct ImportReport: Sendable, Equatable, Encodable {
    /// Records of one type.
    public struct Counts: Sendable, Equatable, Encodable {
        /// Live records that were not there before, or were deleted.
        public var new = 0
        /// Records that were there and have changed.
        public var changed = 0
        /// Records of the file for which there was nothing to do: the scorebook has them so, or newer.
        public var unchanged = 0
        /// Records that were there and are deleted now.
        public var deleted = 0

        public init(new: Int = 0, changed: Int = 0, unchanged: Int = 0, deleted: Int = 0) {
            self.new = new
            self.changed = changed
            self.unchanged = unchanged
            self.deleted = deleted
        }

        static func += (left: inout Counts, right: Counts) {
            left.new += right.new
            left.changed += right.changed
            left.unchanged += right.unchanged
            left.deleted += right.deleted
        }
    }

    /// The kind of file.
    public enum Format: String, Sendable, Encodable {
        case bgStats = "BG Stats export"
        case scorebook = "scorebook export"
    }

    public let format: Format
    /// By record type; types of which the file has nothing are missing.
    public let types: [String: Counts]
    /// How many records were deleted before, or hidden with a deleted one, and are back.
    public let restored: Int
    /// How many records of the file are deleted here, or hidden with a deleted one, and stay so.
    public let stillDeleted: Int

    /// All types together.
    public var total: Counts {
        types.values.reduce(into: Counts()) { $0 += $1 }
    }
}
