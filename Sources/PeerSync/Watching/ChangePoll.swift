import RecordStore
import Synchronization

/// Looks whether another connection has committed anything since the last look, and takes in what it wrote.
struct ChangePoll: Sendable {
    private let store: RecordStore
    private let trouble: StoreTrouble
    private let onChange: @Sendable () -> Void
    private let last = LastVersion()

    private final class LastVersion: Sendable {
        let value = Mutex<Int64?>(nil)
    }

    init(store: RecordStore, trouble: StoreTrouble, onChange: @escaping @Sendable () -> Void) {
        self.store = store
        self.trouble = trouble
        self.onChange = onChange
    }

    /// - Parameter isRegular: assets that could not be put into files are tried again, also when nothing has changed.
    func callAsFunction(isRegular: Bool = false) async {
        do {
            let found = try await store.foldOthersWrites(since: last.value.withLock { $0 })
            // Only now: what could not be taken in, because another program held the store, is looked at again.
            last.value.withLock { $0 = found.version }
            // If there was nothing to take in, another process has done so, or has merged what came from a peer.
            if found.hasChanged, !found.hasFolded { onChange() }
            guard found.hasChanged || isRegular else { return }
            // Once they are there, the sessions look for those that their peers have asked for in vain.
            try await store.assets.storeFiles()
            trouble.succeeded(.changes)
        } catch {
            if !Task.isCancelled { trouble.failed(.changes, because: error) }
        }
    }
}
