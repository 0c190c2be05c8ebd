/// An operation that a store refuses, or damage that it finds.
public struct RecordStoreError: Error, Sendable, CustomStringConvertible {
    /// A stable name of the kind of error; later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The schema cannot be synced.
        public static let invalidSchema = Code(description: "invalidSchema")
        /// A table does not fit the schema.
        public static let tableMismatch = Code(description: "tableMismatch")
        /// A newer version of this program wrote the store, or a program that syncs other tables or fields has opened it meanwhile.
        public static let newerFormat = Code(description: "newerFormat")
        /// The file is not a store, or is damaged.
        public static let corrupt = Code(description: "corrupt")
        /// The store cannot read its metadata of a record. A repair mends it, as far as the other machines have the
        /// record.
        public static let damagedRecord = Code(description: "damagedRecord")
        /// The store has no record of that name.
        public static let noSuchRecord = Code(description: "noSuchRecord")
        /// Another record forbids the deletion.
        public static let deletionDenied = Code(description: "deletionDenied")
        /// A record of a peer breaks a rule of the protocol.
        public static let invalidRecord = Code(description: "invalidRecord")
        /// A stamp lies further in the future than clocks may differ.
        public static let clockSkew = Code(description: "clockSkew")
        /// A peer has missed deletions that the store has forgotten, and has to start over.
        public static let changeTokenExpired = Code(description: "changeTokenExpired")
        /// The store has no zone of that name.
        public static let noSuchZone = Code(description: "noSuchZone")
        /// A record is in another zone of the store.
        public static let otherZone = Code(description: "otherZone")
        /// A peer lacks the rights for this in a zone.
        public static let notPermitted = Code(description: "notPermitted")
        /// A zone is shared with another peer as well.
        public static let sharedZone = Code(description: "sharedZone")
        /// Another session, program or person has meanwhile changed the zones or the records of this operation.
        public static let zonesChanged = Code(description: "zonesChanged")
        /// The store could not make a backup.
        public static let backupFailed = Code(description: "backupFailed")
        /// Too many attempts to pair have failed.
        public static let tooManyAttempts = Code(description: "tooManyAttempts")
        /// The store knows no peer of that name or key.
        public static let noSuchPeer = Code(description: "noSuchPeer")
        /// Somebody removed the machine from the household.
        public static let removed = Code(description: "removed")
        /// The household has no room for another introduction.
        public static let householdFull = Code(description: "householdFull")
        /// A named file cannot be read.
        public static let unreadableFile = Code(description: "unreadableFile")
        /// A value is out of bounds.
        public static let invalidValue = Code(description: "invalidValue")
        /// The disk has no room for a file.
        public static let noSpace = Code(description: "noSpace")
        /// The directory of assets cannot be written.
        public static let assetUnwritable = Code(description: "assetUnwritable")
        /// Records that are held would be lost.
        public static let heldRecords = Code(description: "heldRecords")
        /// Nobody has deleted the record to restore.
        public static let notDeleted = Code(description: "notDeleted")
        /// A name is taken, or matches several.
        public static let ambiguous = Code(description: "ambiguous")

        /// Whether only the files of assets cannot be written now: the store may still be able to write the database.
        package var isAboutAssetFiles: Bool { [.noSpace, .assetUnwritable].contains(self) }
    }

    /// The kind of error.
    public let code: Code
    /// One sentence for people.
    public let message: String

    /// Makes an error, as for an app's own tests.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - message: one sentence for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    static func tableMismatch(_ message: String) -> RecordStoreError {
        RecordStoreError(.tableMismatch, message)
    }

    static func invalidSchema(_ message: String) -> RecordStoreError {
        RecordStoreError(.invalidSchema, message)
    }

    static let zonesChanged = RecordStoreError(.zonesChanged, "what the two machines share has changed")
}
