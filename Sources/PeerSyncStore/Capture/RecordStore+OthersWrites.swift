import GRDB

/// Takes in what other connections have written.
extension RecordStore {
    /// The result of a check for the writes of other connections.
    package struct OthersWrites: Sendable {
        /// The version to pass to the next check.
        package var version: Int64
        package var hasChanged: Bool
        /// Whether the journal held anything to fold.
        package var hasFolded = false
        /// How many records more than before are not sent until a person allows it, whoever has folded the writes.
        package var withheldCount = 0
    }

    /// Folds what other connections have committed since an earlier check.
    ///
    /// - Parameter version: the result of that check; nil for the first one.
    /// - Throws: `newerFormat` when a program that syncs other tables or fields has opened the database.
    package func foldOthersWrites(since version: Int64?) async throws -> OthersWrites {
        try await database.writeWithoutTransaction { [self] db in
            let current = try Self.version(db)
            var found = OthersWrites(version: current, hasChanged: current != version)
            if found.hasChanged {
                try capturedSchema.check(db, isThorough: true)
                if try Self.hasPendingChanges(db) {
                    try db.inTransaction(.immediate) {
                        _ = try fold(db)
                        return .commit
                    }
                    found.hasFolded = true
                }
            }
            found.withheldCount = try unsentCount.rise(db, hasChanged: found.hasChanged)
            return found
        }
    }

    /// The number that SQLite changes with every commit of another connection.
    static func version(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
    }

    /// Tells those who observe the database with GRDB that other connections may have changed any of its tables: GRDB hears of this
    /// connection's commits alone. Each of them reads anew what it observes.
    package func tellOthersWrites() async throws {
        try await database.writeWithoutTransaction { db in
            // GRDB takes an empty transaction for a commit.
            try db.inTransaction(.deferred) {
                try WriteObserver.tellOthersWrites(db)
                return .commit
            }
        }
    }
}
