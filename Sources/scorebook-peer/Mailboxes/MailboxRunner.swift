import PeerSync
import PeerSyncMailbox
import ServiceLifecycle
import Synchronization

/// Keeps the mailboxes of a scorebook in step while `listen` runs, also those that somebody adds meanwhile.
final class MailboxRunner: Service {
    private let store: OpenStore
    private let engine: SyncEngine
    private let options: MailboxOptions
    private let print: @Sendable (LiveOutput.Item) -> Void
    /// Those that run, and those that said that they cannot: by name and when they were added.
    private let known = Mutex<Set<[String]>>([])

    /// How often it looks for new mailboxes.
    private static let interval = Duration.seconds(3)
    /// How long it waits after a fault that is not the mailbox's.
    private static let rest = Duration.seconds(60)

    /// - Parameter interval: how often to ask storages that cannot be watched.
    init(
        _ store: OpenStore, _ engine: SyncEngine, every interval: Duration,
        printing print: @escaping @Sendable (LiveOutput.Item) -> Void
    ) {
        self.store = store
        self.engine = engine
        options = MailboxOptions(interval: interval)
        self.print = print
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { [self] in
                try await withThrowingDiscardingTaskGroup { group in
                    while true {
                        for entry in (try? await beginning()) ?? [] {
                            group.addTask { try await self.run(entry) }
                        }
                        try await Task.sleep(for: Self.interval)
                    }
                }
            }
        } catch is CancellationError {
            return
        }
    }

    /// The mailboxes that nobody runs yet. None while sync is switched off.
    private func beginning() async throws -> [MailboxEntry] {
        let records = store.scorebook.records
        guard try await records.settings.isSyncOn() else { return [] }
        let entries = try await records.mailboxes.all()
        return known.withLock { known in
            known.formIntersection(entries.map(Self.key))
            return entries.filter { known.insert(Self.key($0)).inserted }
        }
    }

    /// Runs one until it is removed.
    private func run(_ entry: MailboxEntry) async throws {
        let print = { @Sendable [self] (event: MailboxEvent) in self.print(.mailbox(entry.name, event)) }
        do {
            try await store.mailbox(entry, engine, options, onEvent: print).run()
        } catch let error as MailboxError {
            // Somebody has removed it, or it cannot be used with what this machine knows of it.
            let isThere = try await store.scorebook.records.mailboxes.all().contains {
                Self.key($0) == Self.key(entry)
            }
            if isThere { print(.failed(error)) }
        } catch {
            // Another program may hold the store now.
            print(.failed(MailboxError(.other, Failure(error).message, underlying: error)))
            try await Task.sleep(for: Self.rest)
            _ = known.withLock { $0.remove(Self.key(entry)) }
        }
    }

    private static func key(_ entry: MailboxEntry) -> [String] { [entry.name, entry.addedAt] }
}
