import GRDB
import PeerSyncModel
import PeerSyncStore

/// How this machine's last head stands in the mailbox (Protocol/mailbox.md section 10).
struct OwnStanding {
    /// How often in a row the last head must be missing until this machine takes what it had put for lost: lists and objects may lag.
    private static let patience = 3

    /// How long after a restored backup one more counts as another machine with the same key, in milliseconds: 7 days, and longer until
    /// a pass finds that nobody else has written.
    private static let suspicion: Int64 = 7 * 24 * 3600 * 1000

    static let twin = MailboxError(
        .sameIdentity,
        "another machine writes to the mailbox with the identity of this one, or this machine's store was restored from a backup twice in a "
            + "few days"
    )

    /// What the store remembers.
    private struct Remembered {
        var counter: Int64 = 0
        var published: Int64 = 0
        var restores: Int64 = 0
        /// When the last of them was found, in milliseconds since 1970.
        var restoredAt: Int64 = 0
        var missing: Int64 = 0
    }

    private enum Phase {
        /// The last head is there, or none was ever put.
        case good
        /// The last head is not there.
        case missing
        /// A head is there that this store never put.
        case foreign(Int64)
    }

    private let phase: Phase
    private let remembered: Remembered

    /// - Throws: ``MailboxError`` `emptied`.
    init(_ context: MailboxContext, _ heads: HeadReader.Heads) async throws {
        let remembered = try await context.store.database.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT counter, published, restores, restoredAt, missing FROM grdb_sync_mailbox WHERE id = ?
                    """, arguments: [context.mailbox]
            ).map {
                Remembered(
                    counter: $0[0], published: $0[1], restores: $0[2], restoredAt: $0[3] ?? 0, missing: $0[4])
            } ?? Remembered()
        }
        self.remembered = remembered
        guard heads.isAny || remembered.published == 0 else {
            throw MailboxError(
                .emptied,
                "the mailbox is empty, but this machine has put something there: it may be another storage")
        }
        let greatest = heads.own.last ?? 0
        if greatest > remembered.counter {
            phase = .foreign(greatest)
        } else if remembered.published > 0, !heads.own.contains(remembered.published),
            try await !context.has(context.own.id.headName(UInt64(remembered.published)))
        {
            phase = .missing
        } else {
            phase = .good
        }
    }

    /// Whether two machines have one key.
    var isTwin: Bool {
        if case .foreign = phase { remembered.published > 0 && remembered.restores > 0 } else { false }
    }

    /// Whether a head is due although it may say the same as the last one.
    var needsHead: Bool {
        switch phase {
        case .good: remembered.published == 0
        case .missing: remembered.missing + 1 >= Self.patience
        case .foreign: true
        }
    }

    /// Whether the last head is not there. It may only be late.
    var isHeadMissing: Bool {
        if case .missing = phase { true } else { false }
    }

    /// Notes what was found.
    ///
    /// - Returns: whether what this machine had put is lost.
    func prepare(_ context: MailboxContext) async throws -> Bool {
        switch phase {
        case .good:
            if remembered.missing > 0 { try await Self.set(context, "missing = 0") }
            let now = context.store.now()
            let isLongAgo = remembered.restoredAt + Self.suspicion <= now || now < remembered.restoredAt
            if remembered.restores > 0, isLongAgo {
                try await Self.set(context, "restores = 0")
            }
            return false
        case .missing:
            guard remembered.missing + 1 >= Self.patience else {
                try await Self.set(context, "missing = missing + 1")
                return false
            }
            return true
        case .foreign(let counter):
            let isKnown = remembered.published > 0
            let restored = isKnown ? ", restores = restores + 1, restoredAt = \(context.store.now())" : ""
            try await Self.set(context, "counter = \(counter)\(restored)", voidingLogs: true)
            if isKnown { context.onEvent(.restored) }
            return false
        }
    }

    /// Has the next pass put anew what the storage lost with the last head: a person has looked, and it is not there.
    static func endPatience(_ context: MailboxContext) async throws {
        try await set(context, "missing = MAX(missing, \(patience - 1))")
    }

    /// Notes that others hold what this store never wrote. A head that this store never put tells the same.
    func noteRestored(_ context: MailboxContext) async throws {
        if case .foreign = phase { return }
        try await context.store.database.write { try OwnLog.voidAll($0, mailbox: context.mailbox) }
        context.onEvent(.restored)
    }

    private static func set(_ context: MailboxContext, _ assignment: String, voidingLogs: Bool = false)
        async throws
    {
        try await context.store.database.write { db in
            if voidingLogs { try OwnLog.voidAll(db, mailbox: context.mailbox) }
            try db.execute(
                sql: "UPDATE grdb_sync_mailbox SET \(assignment) WHERE id = ?", arguments: [context.mailbox])
        }
    }
}
