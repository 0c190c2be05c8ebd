import GRDB
import PeerSyncModel

/// The table `grdb_sync_pairingAttempt`: the recent failed attempts to pair with this machine, by address.
///
/// The store keeps them, because a program that shows one code and ends would otherwise begin with no attempts each
/// time. It never drops an attempt to make room. So nobody can make it forget attempts by making others: while there
/// are too many in all, nobody may try.
enum PairingAttempts {
    /// The time for which an attempt counts, in milliseconds.
    static let window: Int64 = 600_000
    /// The most attempts of one address in that time.
    static let limit = 5
    /// The most attempts of all addresses together in that time.
    static let limitOfAll = 64

    /// Checks whether an address may make another attempt.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `tooManyAttempts`.
    static func check(_ db: Database, from address: String, now: Int64) throws {
        for (mine, limit) in [(true, limit), (false, limitOfAll)] {
            // A wrong clock stamped attempts that lie in the future.
            let times = try Int64.fetchAll(
                db,
                sql: """
                    SELECT time FROM grdb_sync_pairingAttempt WHERE (? OR address = ?) AND time > ? AND time <= ?
                    ORDER BY time DESC LIMIT ?
                    """, arguments: [!mine, address, now - window, now, limit])
            guard times.count == limit, let first = times.last else { continue }
            throw refusal(mine ? address : nil, limit, wait: first + window - now)
        }
    }

    /// Counts an attempt.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `tooManyAttempts`; it does not count the attempt then.
    static func begin(_ db: Database, from address: String, now: Int64) throws {
        try check(db, from: address, now: now)
        try db.execute(
            sql: "DELETE FROM grdb_sync_pairingAttempt WHERE time <= ? OR time > ?",
            arguments: [now - window, now])
        try db.execute(
            sql: "INSERT INTO grdb_sync_pairingAttempt (address, time) VALUES (?, ?)",
            arguments: [address, now])
    }

    /// Forgets the attempts of an address after a machine there has paired.
    static func succeeded(_ db: Database, from address: String) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_pairingAttempt WHERE address = ?", arguments: [address])
    }

    private static func refusal(_ address: String?, _ limit: Int, wait: Int64) -> RecordStoreError {
        let minutes = max(1, (wait + 59_999) / 60_000)
        let whose = address.map { "from \($0)" } ?? "from all addresses together"
        return RecordStoreError(
            .tooManyAttempts,
            "too many attempts to pair \(whose) did not succeed (\(limit) within \(window / 60_000) minutes); the next "
                + "one may come in \(minutes) minute\(minutes == 1 ? "" : "s")")
    }
}
