import CSQLiteConfiguration
import Foundation
import GRDB

/// The file of a store's database: ``RecordStore/databaseFile``. The engine copies it before it gives anything up.
package struct DatabaseFile: Sendable {
    let store: RecordStore

    /// Copies the whole database, as it is now, into a new file.
    ///
    /// - Returns: the moment up to which the backup is complete.
    /// - Throws: `backupFailed`; it then leaves no file behind.
    @discardableResult
    package func backUp(to url: URL) async throws -> BackupMoment {
        do {
            return try await copy(to: url)
        } catch {
            throw RecordStoreError(
                .backupFailed,
                "no backup could be made as \(url.path), so nothing was changed; check that there is room, and who may "
                    + "write there")
        }
    }

    /// Copies the whole database, as the writing connection sees it, into a new file.
    ///
    /// - Returns: the moment up to which the copy is complete.
    /// - Throws: errors of SQLite and of the system; it then leaves no file behind.
    @discardableResult
    package func copy(to url: URL) async throws -> BackupMoment {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Uses a new name, so that it harms no older backup.
        let new = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).new")
        defer { try? FileManager.default.removeItem(at: new) }
        // SQLite fills an empty file, and keeps its mode; one that it makes itself, others could read. It also says why there can be
        // none.
        _ = try? PosixFile(new.path, O_WRONLY | O_CREAT | O_EXCL)
        return try await store.database.writeWithoutTransaction { db in
            // The backup also contains what somebody writes between the next two statements.
            let moment = try BackupMoment(db)
            try db.execute(sql: "VACUUM INTO ?", arguments: [new.path])
            try FileManager.default.moveItem(at: new, to: url)
            return moment
        }
    }

    /// Keeps this process from touching the files at the database's paths, because they are no longer the files that it
    /// has open.
    ///
    /// Otherwise SQLite would copy its open log into the database, over the writes of others. When the last connection
    /// closes, it would also remove the log of others.
    package func leave() async throws {
        try await store.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if let connection = db.sqliteConnection {
                sqlite_keep_log_on_close(UnsafeMutableRawPointer(connection))
            }
        }
    }

    /// Whether the database has a write-ahead log.
    package func hasLog() async throws -> Bool {
        // A new connection would open the log that is now at the path.
        let mode = try await store.database.writeWithoutTransaction { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode")
        }
        return mode == "wal"
    }
}
