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
            try PairingCodes.show(
                db, code, until: store.now() + lifetime, attempts: attempts, welcome: welcome)
        }
    }

    /// Whether anybody may try a code at this moment.
    package func isShowing() async throws -> Bool {
        try await store.database.read { [self] in try PairingCodes.valid($0, now: store.now()) != nil }
    }

    /// What has become of a code.
    package func state(of id: Int64) async throws -> PairingCodeState {
        try await store.database.read { [self] in try PairingCodes.state($0, id, now: store.now()) }
    }

    /// Takes a code back, if it is still shown.
    package func hide(_ id: Int64) async throws {
        try await store.database.write { try PairingCodes.remove($0, id) }
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
            try PairingCodes.begin(db, code.id)
            return Attempt(code: code.code, id: code.id)
        }
    }

    /// Ends an attempt. A code that is shown since then stays as it is.
    ///
    /// - Returns: how many attempts are left.
    package func end(_ attempt: Int64, succeeded: Bool) async throws -> Int {
        try await store.database.write { try PairingCodes.end($0, attempt, succeeded: succeeded) }
    }

    /// The ports on which programs of this machine listen for this store at this moment.
    public func listeningPorts() async throws -> [Int] {
        try await store.database.read { try PairingCodes.listeners($0) }
    }

    /// Notes that this process listens on a port, or does not any more.
    package func noteListening(on port: Int, _ isListening: Bool) async throws {
        try await store.database.write { try PairingCodes.setListening($0, on: port, isListening) }
    }
}
