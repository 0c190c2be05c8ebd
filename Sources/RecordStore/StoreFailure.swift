import GRDB

/// Why SQLite cannot do what a store needs, in the ways that make a difference to people.
///
/// [Result codes](https://www.sqlite.org/rescode.html) are SQLite's words for it.
public enum StoreFailure: Sendable, Hashable {
    /// Another program is writing to the database for a long time.
    case busy
    /// The disk is full.
    case full
    /// The disk fails, or there is no memory.
    case ioFailure
    /// The database cannot be opened.
    case cannotOpen
    /// The database may not be written.
    case notWritable
    /// The file is a database, and damaged.
    case damaged
    /// The file is no database.
    case noDatabase
    /// Something else: the extended result code.
    case other(Int32)

    /// - Returns: nil for an error that is not SQLite's.
    public init?(_ error: any Error) {
        guard let error = error as? DatabaseError else { return nil }
        self =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
            case .SQLITE_FULL: .full
            case .SQLITE_IOERR, .SQLITE_NOMEM: .ioFailure
            case .SQLITE_CANTOPEN: .cannotOpen
            case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .notWritable
            case .SQLITE_CORRUPT: .damaged
            case .SQLITE_NOTADB: .noDatabase
            default: .other(error.extendedResultCode.rawValue)
            }
    }

    /// Whether the disk has no room, or fails: something may still be read.
    public var isOutOfRoom: Bool { self == .full || self == .ioFailure }
}
