import Foundation
import GRDB

/// The browsers that may see the page. Each has a secret in a cookie; the scorebook has its hash alone.
///
/// They are in a table of this machine, which sync knows nothing of.
struct Browsers: Sendable {
    /// A browser that was let in.
    struct Browser: Sendable, Identifiable {
        let id: Int64
        /// What it calls itself, shortened.
        let name: String
        /// When it was let in, in seconds since 1970.
        let added: Int64
    }

    /// How long a browser is known after it was let in.
    static let lifetime: Int64 = 400 * 86_400
    /// The maximum number of browsers. The oldest ones have to be let in again.
    static let maximumCount = 200

    private let database: any DatabaseWriter

    init(_ database: any DatabaseWriter) async throws {
        self.database = database
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS scorebook_browser (
                        id INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, name TEXT NOT NULL, added INTEGER NOT NULL)
                    """)
        }
    }

    /// Lets a browser in.
    ///
    /// - Returns: the secret for its cookie.
    func add(name: String, now: Int64 = Self.now) async throws -> String {
        let secret = Secret.make()
        try await database.write { db in
            try db.execute(
                sql: "INSERT INTO scorebook_browser (secret, name, added) VALUES (?, ?, ?)",
                arguments: [Secret.hash(secret), String(name.prefix(200)), now])
            try db.execute(
                sql: """
                    DELETE FROM scorebook_browser WHERE added < ? OR id NOT IN
                        (SELECT id FROM scorebook_browser ORDER BY id DESC LIMIT \(Self.maximumCount))
                    """, arguments: [now - Self.lifetime])
        }
        return secret
    }

    /// Returns the browser that has a secret; nil if it was not let in, or long ago.
    func find(_ secret: String, now: Int64 = Self.now) async throws -> Browser? {
        try await database.read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT id, name, added FROM scorebook_browser WHERE secret = ? AND added >= ?",
                arguments: [Secret.hash(secret), now - Self.lifetime])
            return row.map { Browser(id: $0[0], name: $0[1], added: $0[2]) }
        }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
