import Logging
import PeerSyncStore

/// A watch that tells sessions when the store has changed, whichever process changed it.
///
/// GRDB reports the commits of this process at once. For other processes, a watch on the database's files says when to
/// poll `PRAGMA data_version` on the writing connection. Its value changes with every commit of every other
/// connection. The poll takes in what they wrote at once, so that sessions find it as records.
final class StoreWatch: Sendable {
    /// The time between polls without a reason, in case the file system says nothing.
    private static let fallbackInterval: Duration = .seconds(5)
    /// The time between polls where the files cannot be watched.
    private static let pollingInterval: Duration = .milliseconds(100)

    private let store: RecordStore
    private let notices: OthersWritesNotices
    private let observers = Registry<@Sendable () -> Void>()

    init(_ store: RecordStore) {
        self.store = store
        notices = OthersWritesNotices(store)
    }

    /// Calls `onChange` after each change, on any thread, for as long as the caller keeps the returned membership.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> Registry<@Sendable () -> Void>.Membership {
        observers.add(onChange)
    }

    /// Watches until cancelled.
    ///
    /// - Parameters:
    ///   - files: the files of the database; nil when it has none.
    ///   - onWithheld: takes how many records are not sent until a person allows it.
    /// - Throws: ``OpenFiles/Loss``; ``PeerSyncError`` `storeUnusable` when another version of the program has opened the database.
    func run(
        _ files: OpenFiles?, _ trouble: StoreTrouble, logger: Logger,
        onWithheld: @escaping @Sendable (Int) -> Void
    ) async throws {
        let observation = store.observeWrites { [weak self] in self?.notify() }
        defer { observation.cancel() }
        // Nobody else can write to a database in memory.
        guard let files else {
            while (try? await Task.sleep(for: .seconds(3600))) != nil {}
            return
        }
        do {
            if try await store.databaseFile.hasLog(), let loss = files.earlyLoss { throw loss }
        } catch let error where !(error is OpenFiles.Loss) {
            trouble.failed(.changes, because: error)
        }
        let watch = FileWatch(database: store.database.path)
        if watch == nil {
            logger.notice("the database's files cannot be watched; looking ten times a second")
        }
        let interval = watch == nil ? Self.pollingInterval : Self.fallbackInterval
        let dueNotice = Signal()
        let poll = ChangePoll(
            store: store, trouble: trouble, notices: notices, dueNotice: dueNotice, onWithheld: onWithheld
        ) { [weak self] in self?.notify() }
        let pauses = PollPauses()
        let write = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard let watch else { return }
                for await _ in watch.changes {
                    if let loss = files.loss { throw loss }
                    pauses.begin()
                    write.raise()
                    try await poll()
                }
            }
            group.addTask {
                for await _ in write {
                    while await pauses.pause() { try await poll() }
                }
            }
            group.addTask {
                for await _ in dueNotice { try? await self.notices.tell() }
            }
            group.addTask {
                repeat {
                    if let loss = files.loss { throw loss }
                    try await poll(isRegular: true)
                } while (try? await Task.sleep(for: interval)) != nil
                write.finish()
                dueNotice.finish()
            }
            // Unlike this loop, waitForAll would go on waiting for the others after one has thrown.
            while try await group.next() != nil {}
        }
    }

    /// Tells the observers that the store has changed.
    func notify() {
        for onChange in observers.elements { onChange() }
    }
}
