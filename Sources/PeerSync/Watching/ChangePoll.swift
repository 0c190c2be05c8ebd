import PeerSyncStore
import Synchronization

/// A check whether another connection has committed since the last poll. It takes in what the other wrote.
struct ChangePoll: Sendable {
    let store: RecordStore
    let trouble: StoreTrouble
    let notices: OthersWritesNotices
    /// Raised when a notice is due.
    let dueNotice: Signal
    /// Takes how many records are not sent until a person allows it.
    let onWithheld: @Sendable (Int) -> Void
    let onChange: @Sendable () -> Void
    private let last = LastVersion()

    private final class LastVersion: Sendable {
        let value = Mutex<Int64?>(nil)
    }

    /// - Parameter isRegular: whether to store assets that could not be put into files before, even when nothing has
    ///   changed.
    /// - Throws: ``PeerSyncError`` `storeUnusable` when another version of the program has opened the database.
    func callAsFunction(isRegular: Bool = false) async throws {
        do {
            let found = try await store.foldOthersWrites(since: last.value.withLock { $0 })
            // Only after success: if another program held the store, the next poll must see the same change again.
            last.value.withLock { $0 = found.version }
            if found.withheldCount > 0 { onWithheld(found.withheldCount) }
            // Nothing to take in means that another process has done so, or has merged records of a peer.
            if found.hasChanged, !found.hasFolded { onChange() }
            if notices.areDue(at: found.version) { dueNotice.raise() }
            guard found.hasChanged || isRegular else { return }
            // The sessions then announce the files that their peers have asked for in vain.
            try await store.assets.storeFiles()
            trouble.succeeded(.changes)
        } catch let error as RecordStoreError where error.code == .newerFormat {
            throw PeerSyncError(store: error)
        } catch {
            trouble.failed(.changes, because: error)
        }
    }
}
