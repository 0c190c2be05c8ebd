import Logging
import PeerSync
import PeerSyncModel
import PeerSyncStore
import Synchronization

/// Keeps a store in step with other machines over storage: they leave sealed objects for each other, and need never be on together.
///
/// ```swift
/// let entry = try await engine.store.mailboxes.add("nas", location: "/mnt/nas/scores")
/// let mailbox = Mailbox(engine, entry, in: FolderStorage(at: URL(fileURLWithPath: entry.location))) { print($0) }
/// try await mailbox.syncOnce()
/// ```
///
/// The machines must be paired, and have met once: a mailbox carries records, files and the household between machines that know each
/// other. It is one more way to them, with the same tokens as connections: what came one way is not sent again the other.
///
/// As a service it runs until the task is cancelled or the service group shuts down. Several mailboxes of a store may run at the same time. One
/// mailbox is used by one program at a time.
public final class Mailbox: Sendable {
    /// The engine whose store it keeps in step.
    public let engine: SyncEngine
    /// The name of the mailbox in the store.
    public let name: String
    let storage: any MailboxStorage
    let options: MailboxOptions
    let onEvent: @Sendable (MailboxEvent) -> Void
    let turns = MailboxTurns()
    let mailbox: Int64
    /// What the store was like when the last pass began.
    private let lastMark = Mutex<StoreMark?>(nil)

    /// Takes a mailbox of a store.
    ///
    /// - Parameters:
    ///   - engine: the engine; it need not run.
    ///   - entry: which mailbox of the engine's store.
    ///   - storage: where its objects are.
    ///   - options: how often it looks.
    ///   - onEvent: called for each event, one at a time; it should return soon.
    public init(
        _ engine: SyncEngine, _ entry: MailboxEntry, in storage: any MailboxStorage,
        options: MailboxOptions = MailboxOptions(),
        onEvent: @escaping @Sendable (MailboxEvent) -> Void = { _ in }
    ) {
        self.engine = engine
        name = entry.name
        mailbox = entry.id
        self.storage = storage
        self.options = options
        self.onEvent = onEvent
    }

    var context: MailboxContext {
        MailboxContext(
            store: engine.store, secrets: AuthorSecrets(engine.identity.keyPair, app: engine.app),
            storage: storage,
            mailbox: mailbox, allowedSkew: engine.allowedSkew, onEvent: onEvent)
    }

    /// Reads what is there, and puts what others lack.
    ///
    /// - Throws: ``MailboxError``; ``/PeerSync/PeerSyncError`` `switchedOff`; `CancellationError` when the task is cancelled, also while
    ///   it waits for a pass of the same mailbox; errors of SQLite.
    @discardableResult
    public func syncOnce() async throws -> MailboxReport { try await pass(mayWait: false) }

    func pass(mayWait: Bool) async throws -> MailboxReport {
        try await turns.take { [self] memory in try await pass(mayWait: mayWait, &memory) }
    }

    func pass(mayWait: Bool, _ memory: inout MailboxPass.Memory) async throws -> MailboxReport {
        try await engine.checkSwitch()
        let report = try await MailboxLease.hold(engine.store, mailbox) {
            let mark = try await engine.store.database.read { try StoreMark($0) }
            lastMark.withLock { $0 = mark }
            let pass = MailboxPass(context: context, mayWait: mayWait)
            let report: MailboxReport
            do {
                report = try await pass.run(&memory)
            } catch let error as RecordStoreError where error.code == .zonesChanged {
                // Another program has given a zone's place to another one.
                report = try await pass.run(&memory)
            }
            // Who meets others in no session forgets here what all of them have.
            try await engine.store.upkeep.purgeIfDue()
            return report
        }
        onEvent(.inStep(report))
        return report
    }

    /// Whether the store has anything for a pass since the last one began. The passes of other programs write, too, and every pass would
    /// be followed by one of each of them.
    func hasNews() async -> Bool {
        guard let mark = try? await engine.store.database.read({ try StoreMark($0) }) else { return true }
        return lastMark.withLock { $0 != mark }
    }

    /// Removes everything that this machine has put, and then forgets the mailbox here. Others keep what they have read. Nobody else uses the
    /// mailbox meanwhile, so nothing is put again.
    ///
    /// - Throws: ``MailboxError``: `busy` while another program uses it, errors of the storage. The store has the mailbox still then.
    public func removeWithOwnObjects() async throws {
        try await MailboxLease.hold(engine.store, mailbox) {
            try await removeOwnObjects()
            try await engine.store.mailboxes.remove(mailbox)
        }
    }

    func removeOwnObjects() async throws {
        let own = context.own.id
        for object in try await storage.list(MailboxFormat.heads)
        where AuthorID.parse(object.name)?.author == own {
            try await storage.delete(object.name)
        }
        for object in try await storage.list(own.folder) where ObjectID(object.name) != nil {
            try await storage.delete(object.name)
        }
        guard let folder = storage as? FolderStorage else { return }
        for name in [own.folder, MailboxFormat.heads] { try await folder.removeIfEmpty(name) }
    }
}
