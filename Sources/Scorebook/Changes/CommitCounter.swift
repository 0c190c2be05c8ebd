import GRDB
import PeerSync

/// Tells whether anybody has committed something to a scorebook since somebody looked last: this program or another one.
///
/// It has a connection of its own, so that it never waits for whoever writes.
public final class CommitCounter: Sendable {
    private let connection: DatabaseQueue

    /// - Returns: nil for a scorebook in memory.
    /// - Throws: errors of SQLite.
    public init?(_ scorebook: ScorebookStore) throws {
        guard let pool = scorebook.records.database as? DatabasePool else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        connection = try DatabaseQueue(path: pool.path, configuration: configuration)
    }

    /// Returns a number that is another one after each commit. What a caller reads after the call has at least what it counts.
    public func count() async throws -> Int {
        // SQLite counts the commits of all connections but the one that it is asked by, which never writes.
        try await connection.read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }
}
