import Foundation
import GRDB
import RecordStore

/// Opens the database file of a scorebook.
public enum ScorebookDatabase {
    /// What the connection that writes may keep of the database in memory: room for the pages of the indexes that a large
    /// transaction touches all over, which otherwise are written and read many times. It fills only when it is used.
    private static let writerCacheKibibytes = 32_768

    /// How connections to a scorebook are set up: write-ahead log, foreign keys on, up to 5 seconds of
    /// waiting for another program's transaction.
    ///
    /// A commit survives the end of the process at once, and the loss of power from the next checkpoint on
    /// (`PRAGMA synchronous = NORMAL`).
    public static func configuration() -> Configuration { configuration(Configuration()) }

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
        }
        return configuration
    }

    /// Opens the database at a path, and creates it when there is no file; a new one is for its owner alone.
    ///
    /// - Throws: ``RecordStoreError`` `corrupt` when the file is not a SQLite database, `newerFormat` when a
    ///   newer version of the program wrote it, both of which are left as they are; ``ScorebookError`` `notWritable` when it cannot be opened for writing.
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

    /// Opens a database on a disk that has no room left, above all to read it. Writing fails there, or succeeds, as on any
    /// other connection.
    ///
    /// As long as no other program has the database open, there is also no room for the memory that its connections share.
    /// Then this is the only one, and others wait: whoever keeps a store open for long should not do so.
    public static func openWithoutRoom(at path: String) throws -> DatabaseQueue {
        do {
            do {
                return try withoutRoom(path, Configuration())
            } catch  where StoreFailure(error)?.isOutOfRoom == true {
                var alone = Configuration()
                // Before anything is read, so that SQLite does not look for the shared memory.
                alone.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
                return try withoutRoom(path, alone)
            }
        } catch {
            throw understood(error, path)
        }
    }

    private static func withoutRoom(_ path: String, _ base: Configuration) throws -> DatabaseQueue {
        var configuration = configuration(base)
        // GRDB would write to the log, so that it is there.
        configuration.journalMode = .default
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.read(ScorebookSchema.checkFormat)
        return database
    }

    /// The files in which SQLite keeps the database at a path; not all of them are there at all times.
    public static func files(at path: String) -> [URL] {
        let path = FilePlace.followingLinks(path)
        return ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: path + $0) }
    }

    /// Makes an empty file, which is an empty database. SQLite would make one that others can read; the files that it
    /// puts beside it have the mode of this one. What fails here fails again when SQLite opens the file, and is said there.
    private static func createPrivately(_ path: String) {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The first bytes of every SQLite database, fixed by its file format.
    static let header = Array("SQLite format 3".utf8) + [0]

    /// Looks before SQLite does: it takes a file of less than a page for an empty one, and would overwrite
    /// it.
    private static func checkHeader(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // A pipe would keep whoever opens it waiting.
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

    /// Refuses what a newer version of the program wrote, by a connection that changes nothing in the file; opening
    /// it for use does.
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

    private static func understood(_ error: any Error, _ path: String) -> any Error {
        switch StoreFailure(error) {
        case .noDatabase:
            notADatabase(path)
        case .damaged:
            RecordStoreError(.corrupt, "the database \(path) is damaged; restore a backup of it")
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
