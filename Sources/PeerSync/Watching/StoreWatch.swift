import Logging
import RecordStore

/// Tells sessions that the store has changed, whichever process changed it.
///
/// GRDB says what this process commits, at once. For other processes, a watch on the database's files says when to
/// look; what it is looked at by is `PRAGMA data_version` of the connection that writes, which changes with every commit
/// of every connection but itself. What they wrote is taken in at once, so that sessions find it as records.
final class StoreWatch: Sendable {
    /// How often it is looked without a reason, in case the file system says nothing.
    private static let fallbackInterval: Duration = .seconds(5)
    /// How often it is looked where the files cannot be watched.
    private static let pollingInterval: Duration = .milliseconds(100)

    private let observers = Registry<@Sendable () -> Void>()

    /// Calls `onChange` after each change, on any thread, for as long as what is returned is kept.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> Registry<@Sendable () -> Void>.Membership {
        observers.add(onChange)
    }

    /// Watches until cancelled.
    ///
    /// - Parameter files: those of the database; nil when it has none.
    /// - Throws: ``OpenFiles/Loss``.
    func run(
        _ store: RecordStore, _ files: OpenFiles?, _ trouble: StoreTrouble, logger: Logger
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
        let poll = ChangePoll(store: store, trouble: trouble) { [weak self] in self?.notify() }
        let backoff = Backoff()
        let write = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard let watch else { return }
                for await _ in watch.changes {
                    if let loss = files.loss { throw loss }
                    backoff.begin()
                    write.raise()
                    await poll()
                }
            }
            group.addTask {
                for await _ in write {
                    while await backoff.pause() { await poll() }
                }
            }
            group.addTask {
                repeat {
                    if let loss = files.loss { throw loss }
                    await poll(isRegular: true)
                } while (try? await Task.sleep(for: interval)) != nil
                write.finish()
            }
            // Not waitForAll, which waits for the others when one has thrown.
            while try await group.next() != nil {}
        }
    }

    /// Tells those who observe that the store has changed.
    func notify() {
        for onChange in observers.elements { onChange() }
    }
}
