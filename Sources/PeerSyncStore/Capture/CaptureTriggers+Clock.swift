import GRDB
import GRDBSQLite

extension CaptureTriggers {
    private final class Clock: Sendable {
        let now: @Sendable () -> Int64

        init(_ now: @escaping @Sendable () -> Int64) { self.now = now }
    }

    /// Lets the triggers stamp what comes through a connection with another clock, in milliseconds since 1970.
    ///
    /// GRDB cannot say that a function is innocuous; without that, triggers may not call it while `PRAGMA trusted_schema` is off.
    static func setClock(_ db: Database, _ now: @escaping @Sendable () -> Int64) {
        let code = sqlite3_create_function_v2(
            db.sqliteConnection, "julianday", 0, SQLITE_UTF8 | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(Clock(now)).toOpaque(),
            { context, _, _ in
                let clock = Unmanaged<Clock>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
                sqlite3_result_double(context, Double(clock.now()) / 86_400_000 + 2_440_587.5)
            }, nil, nil, { Unmanaged<Clock>.fromOpaque($0!).release() })
        precondition(code == SQLITE_OK, "SQLite takes no function")
    }
}
