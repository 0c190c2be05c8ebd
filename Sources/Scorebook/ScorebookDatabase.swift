import Foundation
import GRDB
import PeerSync

/// Opens the database file of a scorebook.
public enum ScorebookDatabase {
    /// The cache of the writing connection. A large transaction touches index pages all over the file; with a small
    /// cache SQLite would write and read them many times. SQLite fills the cache only as needed.
    private static let writerCacheKibibytes = 32_768

    /// The configuration of connections to a scorebook: write-ahead log, foreign keys on, and up to 5 seconds of
    /// waiting for another program's transaction.
    ///
    /// With `PRAGMA synchronous = NORMAL`, a commit survives a crash of the process at once, and a loss of power after
    /// the next checkpoint.
    public static func configuration() -> Configuration { configuration(Configuration()) }

    /// The configuration of a copy in memory, where nothing has to survive and nobody else writes.
    static func configurationInMemory() -> Configuration {
        var configuration = configuration()
        configuration.journalMode = .default
        return configuration
    }

    private static func configuration(_ base: Configuration) -> Configuration {
        var configuration = base
        configuration.label = "scorebook"
        configuration.foreignKeysEnabled = true
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            guard !db.configuration.readonly else { return }
            try db.execute(sql: "PRAGMA cache_size = -\(writerCacheKibibytes)")
            // SQLite keeps the former pages of each statement with a trigger. In a large transaction it would write them
            // to a file, for each row anew.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// Opens the database at a path. If there is no file, creates one that only its owner can read and write.
    ///
    /// - Throws: ``RecordStoreError`` `corrupt` when the file is not a SQLite database, `newerFormat` when a newer
    ///   version of the program wrote it; both leave the file unchanged. ``ScorebookError`` `notWritable` when it
    ///   cannot be opened for writing.
    public static func open(at path: String) throws -> DatabasePool {
        try checkHeader(path)
        do {
            try checkFormat(path)
            createPrivately(path)
            return try DatabasePool(path: path, configuration: configuration())
        } catch {
            throw understood(error, path)
        }
    }

    /// Opens a database on a full disk, mainly to read it. Writes fail or succeed as on any other connection.
    ///
    /// If no other program has the database open, there is also no room for the memory that connections share. Then
    /// this connection locks the database, and all others wait. So do not use it for a store that stays open for long.
    public static func openWithoutRoom(at path: String) throws -> DatabaseQueue {
        do {
            do {
                return try withoutRoom(path, Configuration())
            } catch  where StoreFailure(error)?.isOutOfRoom == true {
                var alone = Configuration()
                // This must come before the first read: otherwise SQLite looks for the shared memory.
                alone.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
                return try withoutRoom(path, alone)
            }
        } catch {
            throw understood(error, path)
        }
    }

    private static func withoutRoom(_ path: String, _ base: Configuration) throws -> DatabaseQueue {
        var configuration = configuration(base)
        // With `.wal`, GRDB would write to the database, so that the log exists.
        configuration.journalMode = .default
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.read(ScorebookSchema.checkFormat)
        return database
    }

    /// The files of the database at a path. Not all of them exist at all times.
    public static func files(at path: String) -> [URL] {
        let path = FilePlace.followingLinks(path)
        return ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: path + $0) }
    }

    /// Creates an empty file, which SQLite takes for an empty database. SQLite itself would create one that others can
    /// read; it gives the files beside it the same mode. A failure here repeats when SQLite opens the file, and is
    /// reported then.
    private static func createPrivately(_ path: String) {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The first bytes of every SQLite database, fixed by its file format.
    static let header = Array("SQLite format 3".utf8) + [0]

    /// Checks the first bytes before SQLite opens the file. SQLite takes a file of less than a page for an empty one,
    /// and would overwrite it.
    private static func checkHeader(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // Opening a pipe could wait for ever.
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "a pipe or a device"
            throw RecordStoreError(.corrupt, "\(path) is \(kind), not a SQLite database; move it away")
        }
        guard FileManager.default.isReadableFile(atPath: path),
            FileManager.default.isWritableFile(atPath: path)
        else {
            throw ScorebookError(.notWritable, "\(path) cannot be opened for writing; check who may write it")
        }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ScorebookError(.notWritable, "\(path) cannot be opened; check who may read it")
        }
        defer { try? file.close() }
        let start = try file.read(upToCount: header.count) ?? Data()
        guard start.isEmpty || Array(start) == header else { throw notADatabase(path) }
    }

    /// Refuses a database that a newer version of the program wrote. The connection for this check changes nothing in
    /// the file; the one for use does.
    private static func checkFormat(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        var configuration = Configuration()
        configuration.label = "scorebook format"
        configuration.busyMode = .timeout(5)
        try DatabaseQueue(path: path, configuration: configuration).read { db in
            try RecordStore.checkFormat(db)
            try ScorebookSchema.checkFormat(db)
        }
    }

    private static func notADatabase(_ path: String) -> RecordStoreError {
        RecordStoreError(
            .corrupt,
            "\(path) is not a SQLite database; it was left as it is, move it away to begin a new scorebook")
    }

    static func damage(_ path: String) -> RecordStoreError {
        RecordStoreError(
            .corrupt,
            "the database \(path) is damaged; move it away together with its -wal and -shm, and copy a backup to its place"
        )
    }

    private static func understood(_ error: any Error, _ path: String) -> any Error {
        switch StoreFailure(error) {
        case .noDatabase:
            notADatabase(path)
        case .damaged:
            damage(path)
        case .cannotOpen, .notWritable:
            ScorebookError(
                .notWritable,
                "\(path) cannot be opened for writing; "
                    + "check that its directory exists and who may write there"
            )
        case .busy, .full, .ioFailure, .other, nil: error
        }
    }
}
