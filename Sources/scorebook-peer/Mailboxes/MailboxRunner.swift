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
    /// Those that run, and those that rest after a fault: by name and when they were added.
    private let known = Mutex<Set<[String]>>([])
    /// Why those cannot run that have not run since.
    private let told = Mutex<[[String]: String]>([:])

    /// How often it looks for new mailboxes.
    private static let interval = Duration.seconds(3)
    /// How long it waits after a fault that the mailbox does not end itself.
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
        let key = Self.key(entry)
        do {
            let mailbox = try await store.mailbox(entry, engine, options, onEvent: print)
            if told.withLock({ $0.removeValue(forKey: key) }) != nil { print(.recovered) }
            try await mailbox.run()
        } catch {
            // Another program may hold the store now.
            let entries = try? await store.scorebook.records.mailboxes.all()
            // Somebody has removed it.
            if let entries, !entries.contains(where: { Self.key($0) == key }) { return }
            let error = MailboxError(error)
            if told.withLock({ $0.updateValue(error.message, forKey: key) }) != error.message {
                print(.failed(error))
            }
            // What this machine knows of it may be put right meanwhile.
            try await Task.sleep(for: Self.rest)
            _ = known.withLock { $0.remove(key) }
        }
    }

    private static func key(_ entry: MailboxEntry) -> [String] { [entry.name, entry.addedAt] }
}
