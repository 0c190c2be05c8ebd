/// What a store refuses or finds wrong.
public struct RecordStoreError: Error, Sendable, CustomStringConvertible {
    /// A stable name of the kind of error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The schema cannot be synced.
        public static let invalidSchema = Code(description: "invalidSchema")
        /// A table does not fit the schema.
        public static let tableMismatch = Code(description: "tableMismatch")
        /// The store was written by a newer version of this program.
        public static let newerFormat = Code(description: "newerFormat")
        /// The file is not a store, or is damaged.
        public static let corrupt = Code(description: "corrupt")
        /// What sync knows of a record cannot be read. A repair mends it, as far as the other machines have the record.
        public static let damagedRecord = Code(description: "damagedRecord")
        /// No record of that name is there.
        public static let noSuchRecord = Code(description: "noSuchRecord")
        /// A record that denies the deletion is in the way.
        public static let deletionDenied = Code(description: "deletionDenied")
        /// A record from elsewhere breaks a rule of the protocol.
        public static let invalidRecord = Code(description: "invalidRecord")
        /// A stamp lies further in the future than clocks may differ.
        public static let clockSkew = Code(description: "clockSkew")
        /// A peer has missed deletions that are forgotten, and has to start over.
        public static let changeTokenExpired = Code(description: "changeTokenExpired")
        /// No zone of that name is there.
        public static let noSuchZone = Code(description: "noSuchZone")
        /// A record is in another zone of the store.
        public static let otherZone = Code(description: "otherZone")
        /// A peer has no rights in a zone, or not these.
        public static let notPermitted = Code(description: "notPermitted")
        /// A zone is shared with another peer as well.
        public static let sharedZone = Code(description: "sharedZone")
        /// Another session, program or person has changed the zones, or the records, that something was to be done with.
        public static let zonesChanged = Code(description: "zonesChanged")
        /// A backup could not be made.
        public static let backupFailed = Code(description: "backupFailed")
        /// Too many attempts to pair did not succeed.
        public static let tooManyAttempts = Code(description: "tooManyAttempts")
        /// No peer of that name or key is known.
        public static let noSuchPeer = Code(description: "noSuchPeer")
        /// A file that was named cannot be read.
        public static let unreadableFile = Code(description: "unreadableFile")
        /// A value is out of bounds.
        public static let invalidValue = Code(description: "invalidValue")
        /// There is no room for a file.
        public static let noSpace = Code(description: "noSpace")
        /// The directory of assets cannot be written.
        public static let assetUnwritable = Code(description: "assetUnwritable")
        /// A record is to be restored that nobody has deleted.
        public static let notDeleted = Code(description: "notDeleted")
        /// A name is taken, or matches several.
        public static let ambiguous = Code(description: "ambiguous")

        /// Whether files of assets cannot be written now; the database may still be.
        var isAboutAssetFiles: Bool { [.noSpace, .assetUnwritable].contains(self) }
    }

    public let code: Code
    /// One sentence for people.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
