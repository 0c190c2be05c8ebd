import GRDB

/// The reason why SQLite cannot do what a store needs, in the kinds that people have to tell apart.
///
/// It stands for SQLite's [result codes](https://www.sqlite.org/rescode.html).
public enum StoreFailure: Sendable, Hashable {
    /// Another program is writing to the database for a long time.
    case busy
    /// The disk is full.
    case full
    /// The disk fails, or there is no memory.
    case ioFailure
    /// The database cannot be opened.
    case cannotOpen
    /// The program may not write the database.
    case notWritable
    /// The file is a database, but damaged.
    case damaged
    /// The file is not a database.
    case noDatabase
    /// Another error, with its extended result code.
    case other(Int32)

    /// - Returns: nil for an error of something other than SQLite.
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

    /// Whether the disk has no room, or fails. Reading may still work.
    public var isOutOfRoom: Bool { self == .full || self == .ioFailure }
}
