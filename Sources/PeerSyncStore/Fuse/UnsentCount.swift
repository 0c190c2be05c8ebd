import GRDB
import Synchronization

/// How many records are not sent until a person allows it, as it was told last. Whoever folds the writes of a program may hold
/// some back: a watch, a session, another process. So whoever watches the store asks here, and each rise is told once.
///
/// Only the writing connection asks.
final class UnsentCount: Sendable {
    private let last = Mutex<(count: Int, changes: Int)?>(nil)

    /// Counts anew when the connection, or another one, has changed anything.
    ///
    /// - Parameter hasChanged: whether another connection has.
    /// - Returns: how many more there are than the last time; 0 the first time.
    func rise(_ db: Database, hasChanged: Bool = true) throws -> Int {
        let changes = db.totalChangesCount
        guard hasChanged || last.withLock({ $0?.changes != changes }) else { return 0 }
        let count = try WithheldRecords.countUnsent(db)
        return last.withLock { last in
            defer { last = (count, changes) }
            return max(0, count - (last?.count ?? count))
        }
    }
}
