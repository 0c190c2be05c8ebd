import GRDB
import PeerSyncModel
import PeerSyncStore

/// A mailbox of a store, and how it stands with it.
public struct MailboxEntry: Sendable, Equatable, Identifiable {
    /// The number of the mailbox in the store.
    public let id: Int64
    /// What people call it.
    public let name: String
    /// Where it is, as ``StoreMailboxes/add(_:location:)`` got it.
    public let location: String
    /// When it was added, ISO 8601.
    public let addedAt: String
    /// When this machine was last in step with it, ISO 8601.
    public let lastSync: String?
    /// Why it could not be used the last time, if that came after the last sync: one sentence.
    public let lastError: String?
    /// The name of the ``MailboxError/Code`` of ``lastError``.
    public let lastErrorCode: String?
    /// Whether this machine has begun to put something there. Of the last object nobody may know whether it is there.
    public let isBegun: Bool
    /// Whether something of this machine is there, or was.
    public let hasPut: Bool
    /// The machines of which this one has heard there, by name.
    public let machines: [Machine]

    /// ``lastError`` and ``lastErrorCode`` as an error; nil if it could be used.
    public var error: MailboxError? {
        lastError.map { MailboxError(.init(description: lastErrorCode ?? "other"), $0) }
    }

    /// A machine of which this one has heard through the mailbox.
    public struct Machine: Sendable, Equatable, Identifiable {
        /// The name of the machine here.
        public let name: String
        /// When this machine saw its last word, ISO 8601.
        public let lastHeard: String
        /// Why this machine does not read on what the other one has put: one sentence.
        public let problem: String?
        /// The name of the ``MailboxError/Code`` of ``problem``.
        public let problemCode: String?
        /// The number of records of this machine that the other one has not taken, beyond those in
        /// ``/PeerSyncStore/StoreStatus/refused``: of many it names only some.
        public let furtherRefused: Int

        /// ``name``, which no two machines share.
        public var id: String { name }

        /// ``problem`` and ``problemCode`` as an error; nil if this machine reads on.
        public var error: MailboxError? {
            problem.map { MailboxError(.init(description: problemCode ?? "other"), $0) }
        }

        /// Makes a machine for previews and tests of an app; see the properties.
        public init(
            name: String, lastHeard: String, problem: String? = nil, problemCode: String? = nil,
            furtherRefused: Int = 0
        ) {
            self.name = name
            self.lastHeard = lastHeard
            self.problem = problem
            self.problemCode = problemCode
            self.furtherRefused = furtherRefused
        }
    }

    /// Makes an entry for previews and tests of an app; see the properties. ``StoreMailboxes/add(_:location:)`` adds one to a store.
    public init(
        id: Int64, name: String, location: String, addedAt: String, lastSync: String? = nil,
        lastError: String? = nil, lastErrorCode: String? = nil, isBegun: Bool = false, hasPut: Bool = false,
        machines: [Machine] = []
    ) {
        self.id = id
        self.name = name
        self.location = location
        self.addedAt = addedAt
        self.lastSync = lastSync
        self.lastError = lastError
        self.lastErrorCode = lastErrorCode
        self.isBegun = isBegun
        self.hasPut = hasPut
        self.machines = machines
    }

    init(_ db: Database, _ row: Row, _ store: RecordStore) throws {
        let id: Int64 = row["id"]
        self.id = id
        name = row["name"]
        location = row["location"]
        addedAt = row["addedAt"]
        lastSync = row["lastSync"]
        lastError = row["lastError"]
        lastErrorCode = row["lastErrorCode"]
        let segments = try Int.fetchOne(
            db, sql: "SELECT MAX(segments) FROM grdb_sync_mailboxLog WHERE mailbox = ?", arguments: [id])
        isBegun = segments != nil || (row["counter"] as Int64) > 0
        hasPut = segments ?? 0 > 0 || (row["published"] as Int64) > 0
        machines = try Row.fetchAll(
            db,
            sql: """
                SELECT machine.name, heardAt, problem, problemCode, furtherRefused FROM grdb_sync_mailboxAuthor
                    JOIN grdb_sync_peer AS machine ON machine.id = peer
                WHERE mailbox = ? ORDER BY machine.name
                """, arguments: [id]
        ).map { row in
            Machine(
                name: row[0], lastHeard: row[1], problem: row[2], problemCode: row[3], furtherRefused: row[4])
        }
    }
}
