import GRDB
import PeerSyncModel
import PeerSyncStore

/// What all parts of a pass over a mailbox work with.
struct MailboxContext: Sendable {
    let store: RecordStore
    let secrets: AuthorSecrets
    let storage: any MailboxStorage
    /// The row of the mailbox in the store.
    let mailbox: Int64
    /// How far the stamps of a peer may lie in the future, in milliseconds.
    let allowedSkew: Int64
    let onEvent: @Sendable (MailboxEvent) -> Void

    /// This machine as an author.
    var own: Author { secrets.author }

    func peerZone(_ zone: Zone, _ peer: Peer) -> PeerZone {
        PeerZone(store: store, zone: .one(zone), peer: peer, allowedSkew: allowedSkew)
    }

    func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
        guard bytes.count <= MailboxLimits.objectSize else {
            throw MailboxError(
                .invalid, "an object for the mailbox would have \(bytes.count) bytes, which is too many")
        }
        try await storage.put(name, bytes)
    }

    /// Gets an object.
    ///
    /// - Throws: ``DamagedObject`` for one that is too large for any, or that this machine may not read; errors of the storage.
    func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
        do {
            return try await storage.get(name)
        } catch let error as MailboxError where error.code == .unreadable {
            throw DamagedObject(error.message, name: name)
        }
    }

    /// Whether there is an object of that name, be it damaged or not.
    func has(_ name: MailboxObjectName) async throws -> Bool {
        do { return try await get(name) != nil } catch is DamagedObject { return true }
    }

    /// What this machine puts there, or has put.
    func ownObjects() async throws -> ([OwnLog], [OwnFile]) {
        try await store.database.read { [mailbox] db in
            (try OwnLog.all(db, mailbox: mailbox), try OwnFile.all(db, mailbox: mailbox))
        }
    }

    /// Now in the form in which the store keeps times.
    var nowText: String { ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded) ?? "" }

    /// The counter of this machine's last head there; 0 if it has put none.
    func published(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db, sql: "SELECT published FROM grdb_sync_mailbox WHERE id = ?", arguments: [mailbox]) ?? 0
    }
}

/// A peer, and what it said last in the mailbox.
struct AuthorView: Sendable {
    let peer: Peer
    let head: OpenedHead
    /// When this machine saw the head first, in milliseconds since 1970.
    let heardAt: Int64
}

extension AuthorView {
    /// How far the peer has read a log, as its head tells.
    ///
    /// - Parameter author: whose log it is.
    /// - Returns: the number of a segment; nil if the peer does not read this log.
    func segmentRead(of log: LogID, by author: Author, in zone: Zone) -> Int? {
        let read = head.zone(zone.id)?.read.first { $0.replica == author.replica }
        return read?.log == log ? read?.segment : nil
    }
}
