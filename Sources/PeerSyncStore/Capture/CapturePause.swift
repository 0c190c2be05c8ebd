import GRDB

/// The table `grdb_sync_capturePause`: it has a row while the engine itself writes, and triggers of apps may ask for it.
enum CapturePause {
    static let table = "grdb_sync_capturePause"

    static let create = """
        CREATE TABLE IF NOT EXISTS grdb_sync_capturePause (
            id INTEGER PRIMARY KEY
        );
        """

    /// Whether a trigger or a view of the app's names the table.
    static func isNamedByApp(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM main.sqlite_master WHERE type IN ('trigger', 'view') AND name NOT GLOB ?
                        AND instr(lower(sql), lower(?)) > 0)
                """, arguments: [MetadataTables.prefix + "*", table]) == true
    }
}

extension RecordStore {
    /// Makes the table `grdb_sync_capturePause` if it is not there, for triggers of the app's that fire only where somebody writes.
    ///
    /// Call it in the migration that creates such a trigger. On a new installation the app's migrations run before the store is
    /// opened, and SQLite refuses writes, and changes of any table, while a trigger names a table that does not exist.
    ///
    /// - Parameter db: the connection of the migration.
    /// - Throws: errors of SQLite.
    public static func createCapturePause(_ db: Database) throws { try db.execute(sql: CapturePause.create) }
}
