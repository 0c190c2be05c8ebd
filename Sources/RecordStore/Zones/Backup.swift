import CSQLiteConfiguration
import Foundation
import GRDB

/// Copies that are made before anything is given up.
extension RecordStore {
    /// What a backup has: nothing was written since as long as this is the same.
    package struct Moment: Sendable, Equatable {
        private let sequence: Int64
        private let journal: Int64

        init(_ db: Database) throws {
            sequence = try SyncState.integer(db, .lastSequence) ?? 0
            journal = try Int64.fetchOne(db, sql: "SELECT MAX(id) FROM pendingChange") ?? 0
        }
    }

    package func moment(_ db: Database) throws -> Moment { try Moment(db) }

    /// Copies the whole database into a new file, as it is now.
    ///
    /// - Returns: the moment of which the backup has everything.
    /// - Throws: `backupFailed`; nothing is left behind then.
    @discardableResult
    package func backUp(to url: URL) async throws -> Moment {
        do {
            return try await copyDatabase(to: url)
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
    package func copyDatabase(to url: URL) async throws -> Moment {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Under a name that nobody has, so that no older backup is harmed.
        let new = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).new")
        defer { try? FileManager.default.removeItem(at: new) }
        return try await database.writeWithoutTransaction { db in
            // What is written between the two is in the backup as well.
            let moment = try Moment(db)
            try db.execute(sql: "VACUUM INTO ?", arguments: [new.path])
            try FileManager.default.moveItem(at: new, to: url)
            return moment
        }
    }

    /// Keeps this process from touching the files at the database's paths, which are not the ones that it has open.
    ///
    /// SQLite would copy the log that it has open into the database, over what others have written there, and when the
    /// last connection closes, it would remove the log of others.
    package func leaveFiles() async throws {
        try await database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if let connection = db.sqliteConnection {
                sqlite_keep_log_on_close(UnsafeMutableRawPointer(connection))
            }
        }
    }

    /// Whether the database has a write-ahead log.
    package func hasLog() async throws -> Bool {
        // A new connection would open the log that is there now.
        try await database.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
            == "wal"
    }
}
