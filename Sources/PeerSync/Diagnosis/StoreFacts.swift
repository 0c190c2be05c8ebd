/// What was observed of a store, without writing into it.
public struct StoreFacts: Sendable, Equatable {
    /// How far the store can be opened.
    public enum State: Sendable, Equatable {
        /// There is none.
        case missing
        /// The subject cannot be read.
        case unreadable(path: String)
        /// The database is damaged, or no database.
        case damaged
        /// A newer version of the app wrote it.
        case newer
        /// It cannot be opened for another reason.
        case unusable
        /// It was read.
        case read(StoreContent)
    }

    /// The file of the key.
    public enum Key: Sendable, Equatable {
        /// It holds a key that nobody else can read.
        case good
        /// There is no file.
        case missing
        /// It cannot be used.
        case unusable(PeerSyncError.Code)
    }

    /// The directory of the store.
    public var directory: String
    /// The path of the database.
    public var database: String
    /// The path of the key.
    public var keyFile: String
    /// How far the store can be opened.
    public var state: State
    /// The file of the key.
    public var key: Key
    /// The files and directories of the store that this user may not write.
    public var unwritable: [String]
    /// The bytes that the disk has left; nil when the system does not say.
    public var bytesLeft: Int64?
    /// Whether the disk can only be read.
    public var isReadOnlyDisk: Bool

    /// Makes facts; see the properties.
    public init(
        directory: String, database: String, keyFile: String, state: State, key: Key,
        unwritable: [String] = [],
        bytesLeft: Int64? = nil, isReadOnlyDisk: Bool = false
    ) {
        self.directory = directory
        self.database = database
        self.keyFile = keyFile
        self.state = state
        self.key = key
        self.unwritable = unwritable
        self.bytesLeft = bytesLeft
        self.isReadOnlyDisk = isReadOnlyDisk
    }
}
