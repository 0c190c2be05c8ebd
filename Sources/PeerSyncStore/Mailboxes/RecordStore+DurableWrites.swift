import GRDB

extension RecordStore {
    /// Writes in a transaction. When this returns, it and all that was committed before outlast a loss of power, also where the app lets other
    /// commits reach the disk later (`PRAGMA synchronous = NORMAL`). An app that lets none be waited for (`OFF`) gets what it wants.
    package func writeDurably<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await database.writeWithoutTransaction { db in
            let normal = 1
            let isNormal = try Int.fetchOne(db, sql: "PRAGMA synchronous") == normal
            if isNormal { try db.execute(sql: "PRAGMA synchronous = FULL") }
            defer { if isNormal { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
            // Otherwise macOS leaves what is synced in the cache of the drive.
            let flushesDrive = try Bool.fetchOne(db, sql: "PRAGMA fullfsync") == true
            if !flushesDrive { try db.execute(sql: "PRAGMA fullfsync = ON") }
            defer { if !flushesDrive { try? db.execute(sql: "PRAGMA fullfsync = OFF") } }
            var value: Value?
            try db.inTransaction {
                value = try updates(db)
                return .commit
            }
            return value!
        }
    }
}
