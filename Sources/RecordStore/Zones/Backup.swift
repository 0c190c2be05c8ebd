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
        } catch {
            throw RecordStoreError(
                .backupFailed,
                "no backup could be made as \(url.path), so nothing was changed; check that there is room, and who may "
                    + "write there")
        }
    }
}
