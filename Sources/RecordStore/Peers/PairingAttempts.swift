import GRDB
import SyncModel

/// The table `pairingAttempt`: who has tried to pair with this machine lately, and did not succeed.
///
/// It is kept in the store, because a program that shows one code and ends would otherwise begin with nothing each time.
/// Nothing is ever dropped to make room, so nobody can have his own attempts forgotten by making others: while there are
/// too many in all, nobody may try.
enum PairingAttempts {
    /// For how long an attempt counts, in milliseconds.
    static let window: Int64 = 600_000
    /// How many attempts one address has in that time.
    static let limit = 5
    /// How many all addresses have together.
    static let limitOfAll = 64

    /// Looks whether there may be another attempt.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `tooManyAttempts`.
    static func check(_ db: Database, from address: String, now: Int64) throws {
        for (mine, limit) in [(true, limit), (false, limitOfAll)] {
            // What lies in the future was counted by a clock that was wrong.
            let times = try Int64.fetchAll(
                db,
                sql: """
                    SELECT time FROM pairingAttempt WHERE (? OR address = ?) AND time > ? AND time <= ?
                    ORDER BY time DESC LIMIT ?
                    """, arguments: [!mine, address, now - window, now, limit])
            guard times.count == limit, let first = times.last else { continue }
            throw refusal(mine ? address : nil, limit, wait: first + window - now)
        }
    }

    /// Counts an attempt.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `tooManyAttempts` without counting it.
    static func begin(_ db: Database, from address: String, now: Int64) throws {
        try check(db, from: address, now: now)
        try db.execute(
            sql: "DELETE FROM pairingAttempt WHERE time <= ? OR time > ?", arguments: [now - window, now])
        try db.execute(
            sql: "INSERT INTO pairingAttempt (address, time) VALUES (?, ?)", arguments: [address, now])
    }

    /// Forgets the attempts of an address from which a machine was paired.
    static func succeeded(_ db: Database, from address: String) throws {
        try db.execute(sql: "DELETE FROM pairingAttempt WHERE address = ?", arguments: [address])
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
