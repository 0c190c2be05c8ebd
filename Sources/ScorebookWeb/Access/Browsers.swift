import Foundation
import GRDB

/// What a browser may do.
enum BrowserRights: Int64, Sendable {
    /// Everything.
    case all = 0
    /// Only look, and not at machines and browsers.
    case guest = 1
}

/// The browsers that may see the page. Each has a secret in a cookie; the scorebook has its hash alone.
///
/// They are in a table of this machine, which sync knows nothing of.
struct Browsers: Sendable {
    /// A browser that was let in.
    struct Browser: Sendable, Identifiable {
        /// The hash of its secret in hexadecimal: no other browser ever has the same, also after this one was shut out.
        let id: String
        /// What it calls itself, shortened.
        let name: String
        /// When it was let in, in seconds since 1970.
        let added: Int64
        let rights: BrowserRights
        /// When it was here last, in seconds since 1970, up to ``seenInterval`` ago.
        let seen: Int64
        /// Whether it may see the page now. Without TLS, one that was let in over TLS may not when ``lifetimeWithoutTLS`` is over.
        let isLetIn: Bool

        var isGuest: Bool { rights != .all }
    }

    /// How long a browser is known after it was let in over TLS, in seconds.
    static let lifetime: Int64 = 400 * 86_400
    /// The same without TLS: then every server of this computer can get the cookie, whoever runs it.
    static let lifetimeWithoutTLS: Int64 = 12 * 3600
    /// The maximum number of browsers. The oldest ones have to be let in again.
    static let maximumCount = 200
    /// A visit is noted when the last one was so long ago, in seconds: a write for every request would be too much.
    static let seenInterval: Int64 = 600

    /// How long a browser is known after it was let in, in seconds, unless it was let in for less.
    let lifetime: Int64
    /// The same for people.
    var lifetimeText: String { lifetime == Self.lifetime ? "400 days" : "twelve hours" }
    private let database: any DatabaseWriter

    /// - Parameter isSecure: whether browsers are let in over TLS alone.
    init(_ database: any DatabaseWriter, isSecure: Bool) async throws {
        self.database = database
        lifetime = isSecure ? Self.lifetime : Self.lifetimeWithoutTLS
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS scorebook_browser (
                        id INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, name TEXT NOT NULL, added INTEGER NOT NULL)
                    """)
            // An older version of the program made it without these.
            let defaults: [(column: String, value: Int64)] = [
                ("rights", 0), ("seen", 0), ("lifetime", Self.lifetime),
            ]
            let columns = try db.columns(in: "scorebook_browser").map(\.name)
            for (column, value) in defaults where !columns.contains(column) {
                try db.execute(
                    sql: """
                        ALTER TABLE scorebook_browser ADD COLUMN \(column) INTEGER NOT NULL DEFAULT \(value)
                        """)
            }
        }
    }

    /// Lets a browser in.
    ///
    /// - Returns: the secret for its cookie.
    func add(name: String, _ rights: BrowserRights, now: Int64 = Self.now) async throws -> String {
        let secret = Secret.make()
        try await database.write { [lifetime] db in
            try db.execute(
                sql: """
                    INSERT INTO scorebook_browser (secret, name, added, rights, seen, lifetime)
                        VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    Secret.hash(secret), String(name.prefix(200)), now, rights.rawValue, now, lifetime,
                ])
            try db.execute(
                sql: """
                    DELETE FROM scorebook_browser WHERE added + lifetime < ? OR id NOT IN
                        (SELECT id FROM scorebook_browser ORDER BY id DESC LIMIT \(Self.maximumCount))
                    """, arguments: [now])
        }
        return secret
    }

    /// Returns the browser that has a secret, and notes its visit; nil if it was not let in, or long ago.
    func find(_ secret: String, now: Int64 = Self.now) async throws -> Browser? {
        let hash = Secret.hash(secret)
        let browser = try await database.read { db in
            try browsers(db, "secret = ? AND isLetIn", [hash], now: now).first
        }
        if let browser, now - browser.seen >= Self.seenInterval {
            try await database.write { db in
                try db.execute(
                    sql: "UPDATE scorebook_browser SET seen = ? WHERE secret = ?", arguments: [now, hash])
            }
        }
        return browser
    }

    /// Whether a browser has not been shut out since it was found.
    func isKnown(_ id: Browser.ID?, now: Int64 = Self.now) async throws -> Bool {
        try await database.read { db in
            try !browsers(db, "\(Self.id) = ? AND isLetIn", [id], now: now).isEmpty
        }
    }

    /// The browsers that may see the page now or, where it is served over TLS, then. The last one to be let in comes first.
    func all(now: Int64 = Self.now) async throws -> [Browser] {
        try await database.read { db in
            try browsers(db, "added + lifetime >= ? ORDER BY id DESC", [now], now: now)
        }
    }

    /// Shuts a browser out.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    func remove(_ id: Browser.ID) async throws -> Bool {
        try await database.write { db in
            try db.execute(sql: "DELETE FROM scorebook_browser WHERE \(Self.id) = ?", arguments: [id])
            return db.changesCount > 0
        }
    }

    /// Whether a text may be the id of a browser that was shut out.
    static func mayBeID(_ text: String) -> Bool { text.utf8.count == 64 && text.allSatisfy(\.isHexDigit) }

    /// What ``Browser/id`` is in SQL. SQLite gives a number that was the highest one to the next row.
    private static let id = "lower(hex(secret))"

    private func browsers(
        _ db: Database, _ condition: String, _ arguments: StatementArguments, now: Int64
    ) throws -> [Browser] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT \(Self.id), name, added, rights, seen, added + min(lifetime, ?) >= ? AS isLetIn
                    FROM scorebook_browser WHERE \(condition)
                """,
            arguments: [lifetime, now] + arguments
        ).map { row in
            // Other programs may write any number.
            func seconds(_ column: Int) -> Int64 { min(max(0, row[column]), Self.lastMoment) }
            // Whatever a later version may let browsers do: this one lets it look.
            return Browser(
                id: row[0], name: row[1], added: seconds(2),
                rights: BrowserRights(rawValue: row[3]) ?? .guest, seen: seconds(4), isLetIn: row[5])
        }
    }

    /// The last second of the year 9999, the last one that has a date.
    private static let lastMoment: Int64 = 253_402_300_799

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
