import GRDB
import PeerSyncModel

/// The pairing code that a store shows, and the programs that listen for it: ``RecordStore/pairing``.
public struct StorePairing: Sendable {
    let store: RecordStore

    /// The code that can be tried, with the number of the next attempt.
    package struct Attempt: Sendable {
        package let code: String
        package let id: Int64
    }

    /// The reason why a code cannot be tried.
    package enum Refusal: Error {
        case unavailable
        case busy
    }

    /// Shows a code until some time. A code that was shown before becomes void.
    ///
    /// - Parameters:
    ///   - code: six digits.
    ///   - lifetime: milliseconds.
    ///   - welcome: what the machine gets that pairs; nil for what every paired machine gets.
    /// - Throws: `noSuchZone`.
    /// - Returns: the number of the code, for ``state(of:)``.
    package func show(
        _ code: String, for lifetime: Int64, attempts: Int, welcome: Welcome?
    ) async throws -> Int64 {
        try await store.database.write { [self] db in
            if let zone = welcome?.zone { _ = try Zones.find(db, named: zone) }
            try db.execute(sql: "DELETE FROM grdb_sync_pairingCode")
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_pairingCode (code, expires, attemptsLeft, rights, zone) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [code, store.now() + lifetime, attempts, welcome?.rights.rawValue, welcome?.zone])
            let id = db.lastInsertedRowID
            try SyncSettings.noteChanged(db)
            return id
        }
    }

    /// Whether anybody may try a code at this moment.
    package func isShowing() async throws -> Bool {
        try await store.database.read { [self] in try PairingCodes.valid($0, now: store.now()) != nil }
    }

    /// What has become of a code.
    package func state(of id: Int64) async throws -> PairingCodeState {
        try await store.database.read { [self] db -> PairingCodeState in
            let name = try String.fetchOne(
                db,
                sql: """
                    SELECT peer.name FROM grdb_sync_pairingCode AS shown JOIN grdb_sync_peer AS peer ON peer.id = shown.peer
                    WHERE shown.id = ?
                    """, arguments: [id])
            if let name { return .paired(name) }
            // The last attempt may still succeed.
            let row = try Row.fetchOne(
                db,
                sql: "SELECT attemptsLeft, expires, process, start FROM grdb_sync_pairingCode WHERE id = ?",
                arguments: [id])
            guard let row else { return .over }
            let left: Int = row[0]
            if PairingCodes.isBeingTried(row) { return .shown(attemptsLeft: left + 1) }
            return left > 0 && row[1] > store.now() ? .shown(attemptsLeft: left) : .over
        }
    }

    /// Takes a code back, if it is still shown.
    package func hide(_ id: Int64) async throws {
        try await store.database.write { db in
            try db.execute(sql: "DELETE FROM grdb_sync_pairingCode WHERE id = ?", arguments: [id])
            if db.changesCount > 0 { try SyncSettings.noteChanged(db) }
        }
    }

    /// Begins an attempt with the code. It counts from now on, whatever comes of it.
    ///
    /// - Parameter address: the origin of the attempt; the caller decides what counts as one address. Nil if nobody counts.
    /// - Throws: ``Refusal``; `tooManyAttempts`, and then the attempt does not count.
    package func begin(from address: String?) async throws -> Attempt {
        try await store.database.write { [self] db in
            guard let code = try PairingCodes.valid(db, now: store.now()) else { throw Refusal.unavailable }
            guard !code.isBeingTried else { throw Refusal.busy }
            if let address { try PairingAttempts.begin(db, from: address, now: store.now()) }
            let current = RunningProcess.current
            try db.execute(
                sql: """
                    UPDATE grdb_sync_pairingCode SET attemptsLeft = attemptsLeft - 1, process = ?, start = ? WHERE id = ?
                    """, arguments: [current.number, current.start, code.id])
            return Attempt(code: code.code, id: code.id)
        }
    }

    /// Ends an attempt. A code that is shown since then stays as it is.
    ///
    /// - Returns: how many attempts are left; 0 if another code is shown since then.
    package func end(_ attempt: Int64, succeeded: Bool) async throws -> Int {
        try await store.database.write { db in
            try db.execute(
                sql: """
                    UPDATE grdb_sync_pairingCode SET process = NULL, start = NULL,
                        attemptsLeft = CASE WHEN ?2 THEN 0 ELSE attemptsLeft END,
                        code = CASE WHEN ?2 OR attemptsLeft = 0 THEN '' ELSE code END
                    WHERE id = ?1
                    """, arguments: [attempt, succeeded])
            let sql = "SELECT attemptsLeft FROM grdb_sync_pairingCode WHERE id = ?"
            let left = try Int.fetchOne(db, sql: sql, arguments: [attempt]) ?? 0
            if left == 0 { try SyncSettings.noteChanged(db) }
            return left
        }
    }

    /// The ports on which programs of this machine listen for this store at this moment.
    public func listeningPorts() async throws -> [Int] {
        try await store.database.read { db -> [Int] in
            try Row.fetchAll(db, sql: "SELECT process, start, port FROM grdb_sync_listener ORDER BY port")
                .filter { RunningProcess(number: $0[0], start: $0[1]).isRunning }.map { $0[2] }
        }
    }

    /// Notes that this process listens on a port, or does not any more.
    package func noteListening(on port: Int, _ isListening: Bool) async throws {
        try await store.database.write { db in
            let current = RunningProcess.current
            for row in try Row.fetchAll(db, sql: "SELECT process, start FROM grdb_sync_listener") {
                let process = RunningProcess(number: row[0], start: row[1])
                guard !process.isRunning else { continue }
                try db.execute(
                    sql: "DELETE FROM grdb_sync_listener WHERE process = ?", arguments: [process.number])
            }
            try db.execute(
                sql: isListening
                    ? "INSERT OR REPLACE INTO grdb_sync_listener (process, start, port) VALUES (?1, ?2, ?3)"
                    : "DELETE FROM grdb_sync_listener WHERE process = ?1 AND ?2 IS ?2 AND port = ?3",
                arguments: [current.number, current.start, port])
        }
    }
}
