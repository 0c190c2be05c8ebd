import CSQLiteConfiguration
import Foundation
import GRDB

/// The file of a store's database: ``RecordStore/databaseFile``. It is copied before anything is given up.
package struct DatabaseFile: Sendable {
    let store: RecordStore

    /// Copies the whole database into a new file, as it is now.
    ///
    /// - Returns: the moment of which the backup has everything.
    /// - Throws: `backupFailed`; nothing is left behind then.
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

    /// Copies the whole database, as the connection that writes sees it, into a new file.
    ///
    /// - Returns: the moment of which the copy has everything.
    /// - Throws: errors of SQLite and of the system; nothing is left behind then.
    @discardableResult
    package func copy(to url: URL) async throws -> BackupMoment {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Under a name that nobody has, so that no older backup is harmed.
        let new = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).new")
        defer { try? FileManager.default.removeItem(at: new) }
        return try await store.database.writeWithoutTransaction { db in
            // What is written between the two is in the backup as well.
            let moment = try BackupMoment(db)
            try db.execute(sql: "VACUUM INTO ?", arguments: [new.path])
            try FileManager.default.moveItem(at: new, to: url)
            return moment
        }
    }

    /// Keeps this process from touching the files at the database's paths, which are not the ones that it has open.
    ///
    /// SQLite would copy the log that it has open into the database, over what others have written there, and when the
    /// last connection closes, it would remove the log of others.
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
        // A new connection would open the log that is there now.
        let mode = try await store.database.writeWithoutTransaction { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode")
        }
        return mode == "wal"
    }
}
