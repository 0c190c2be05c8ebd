import PeerSync

/// The result of an import.
public struct ImportReport: Sendable, Equatable, Encodable {
    /// The counts of records of one type.
    public struct Counts: Sendable, Equatable, Encodable {
        /// Live records that were missing or deleted before.
        public var new = 0
        /// Records that were live and have changed.
        public var changed = 0
        /// Records of the file that changed nothing: the scorebook has the same or newer values.
        public var unchanged = 0
        /// Records that were live and are deleted now.
        public var deleted = 0

        /// Makes counts; without arguments, of nothing.
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
        /// A backup of BG Stats.
        case bgStats = "BG Stats export"
        /// What ``ScorebookStore/exportData()`` writes.
        case scorebook = "scorebook export"
        /// The games of somebody at BoardGameGeek.
        case bggCollection = "BoardGameGeek collection"
        /// The plays of somebody at BoardGameGeek.
        case bggPlays = "BoardGameGeek plays"
    }

    /// The kind of the file.
    public let format: Format
    /// The counts by record type, without types that have none.
    public let types: [String: Counts]
    /// The number of records that were deleted, or hidden with a deleted one, and are back.
    public let restored: Int
    /// The number of records of the file that are deleted here, or hidden with a deleted one, and stay so.
    public let stillDeleted: Int
    /// The number of games and persons of a file of BG Stats or BoardGameGeek that were here already, under other record names, and
    /// became one with those.
    public let joined: Int
    /// The names of these games and persons, sorted.
    public let joinedNames: [String]
    /// The number of entries in a collection of BoardGameGeek that were left out: games that nobody has, had or has played, and
    /// expansions that nobody has played.
    public let leftOut: Int

    /// The sum over all types.
    public var total: Counts {
        types.values.reduce(into: Counts()) { $0 += $1 }
    }
}
