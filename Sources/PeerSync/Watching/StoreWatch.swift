import Foundation
import Logging
import RecordStore
import Synchronization

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
        let look = Look(store: store, trouble: trouble) { [weak self] in self?.notify() }
        let patience = Patience()
        let write = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard let watch else { return }
                for await _ in watch.changes {
                    if let loss = files.loss { throw loss }
                    patience.begin()
                    write.raise()
                    await look()
                }
            }
            group.addTask {
                for await _ in write {
                    while await patience.pause() { await look() }
                }
            }
            group.addTask {
                repeat {
                    if let loss = files.loss { throw loss }
                    await look(isRegular: true)
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

/// Looks whether another connection has committed anything since the last look, and takes in what it wrote.
private struct Look: Sendable {
    let store: RecordStore
    let trouble: StoreTrouble
    let onChange: @Sendable () -> Void
    private let last = LastVersion()

    private final class LastVersion: Sendable {
        let value = Mutex<Int64?>(nil)
    }

    init(store: RecordStore, trouble: StoreTrouble, onChange: @escaping @Sendable () -> Void) {
        self.store = store
        self.trouble = trouble
        self.onChange = onChange
    }

    /// - Parameter isRegular: pictures that could not be put into files are tried again, also when nothing has changed.
    func callAsFunction(isRegular: Bool = false) async {
        do {
            let look = try await store.foldOthersWrites(since: last.value.withLock { $0 })
            // Only now: what could not be taken in, because another program held the store, is looked at again.
            last.value.withLock { $0 = look.version }
            // If there was nothing to take in, another process has done so, or has merged what came from a peer.
            if look.hasChanged, !look.hasFolded { onChange() }
            guard look.hasChanged || isRegular else { return }
            // Once they are there, the sessions look for those that their peers have asked for in vain.
            try await store.assets.storeFiles()
            trouble.succeeded(.changes)
        } catch {
            if !Task.isCancelled { trouble.failed(.changes, because: error) }
        }
    }
}

/// How long it is looked again after the files were written: a commit is written to the log some moments before others
/// can see it, as long as it takes to reach the disk.
private final class Patience: Sendable {
    private static let length: Duration = .milliseconds(128)
    private static let shortestPause: Duration = .microseconds(500)
    private static let longestPause: Duration = .milliseconds(8)

    private let lastWrite = Mutex<ContinuousClock.Instant?>(nil)

    /// The files were written just now.
    func begin() {
        lastWrite.withLock { $0 = .now }
    }

    /// Waits a little: the longer, the longer it was waited already.
    ///
    /// - Returns: false, at once, when it was waited long enough.
    func pause() async -> Bool {
        guard let lastWrite = lastWrite.withLock({ $0 }) else { return false }
        let waited = ContinuousClock.now - lastWrite
        guard waited < Self.length else { return false }
        let pause = min(max(waited / 4, Self.shortestPause), Self.longestPause)
        return (try? await Task.sleep(for: pause)) != nil
    }
}
