import Foundation
import GRDB
import PeerSync

extension ScorebookStore {
    /// Copies the whole database, with all zones and what sync knows of them, into a new file: an ordinary scorebook. The files
    /// of pictures are not in it.
    ///
    /// - Parameter url: a file that does not exist.
    /// - Throws: errors of SQLite; it may leave a part of the file behind.
    public func backUp(to url: URL) async throws {
        try await records.foldPendingChanges()
        try await records.database.writeWithoutTransaction { db in
            try db.execute(sql: "VACUUM INTO ?", arguments: [url.path])
        }
    }
}
