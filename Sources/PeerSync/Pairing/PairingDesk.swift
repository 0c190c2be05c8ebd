import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore

/// The pairing code that this machine shows, and its limits.
///
/// A code lives five minutes, pairs one machine, and allows three attempts over all addresses, one at a time. It is in the
/// store: one program may show it while another listens. The store counts the attempts of each address over all codes.
public struct PairingDesk: Sendable {
    /// How long a code lives.
    public static let lifetime: Duration = .seconds(300)
    /// How many times a code may be tried.
    public static let attempts = 3

    /// A code that was shown, until it has paired a machine, or is over.
    public struct Shown: Sendable {
        /// The code that a person types on the other machine.
        public let code: PairingCode
        fileprivate let id: Int64
        fileprivate let store: RecordStore

        /// What has become of the code.
        public var state: PairingCodeState {
            get async throws { try await store.pairing.state(of: id) }
        }

        /// Whether another code was made later, so that this one is over.
        public func isOlder(than other: Shown) -> Bool { id < other.id }

        /// Takes the code back, if it is still shown.
        public func hide() async throws { try await store.pairing.hide(id) }
    }

    /// An attempt that has begun.
    struct Attempt: Sendable {
        let code: PairingCode
        /// The number of the code.
        let number: Int64
    }

    private let store: RecordStore

    init(_ store: RecordStore) {
        self.store = store
    }

    /// Makes a code and shows it from now on. A code shown before becomes void.
    ///
    /// - Parameter lifetime: how long the code lives: from 1 second to 1 day; outside of that, the nearest of these.
    /// - Throws: errors of SQLite.
    public func show(lifetime: Duration = PairingDesk.lifetime) async throws -> PairingCode {
        try await show(for: nil, lifetime: lifetime).code
    }

    /// Makes a code and shows it from now on. A code shown before becomes void.
    ///
    /// - Parameters:
    ///   - welcome: what the machine gets that pairs; nil for the right to write in the default zone.
    ///   - lifetime: see ``show(lifetime:)``.
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` `noSuchZone`; errors of SQLite.
    public func show(for welcome: Welcome?, lifetime: Duration = PairingDesk.lifetime) async throws -> Shown {
        let code = PairingCode.random()
        let lifetime = lifetime.clamped(to: .seconds(1) ... .seconds(86_400))
        let id = try await store.pairing.show(
            code.formatted.filter { $0 != "-" }, for: Int64(lifetime / .milliseconds(1)),
            attempts: Self.attempts, welcome: welcome)
        return Shown(code: code, id: id, store: store)
    }

    /// Whether a code can be tried at this moment.
    var isShowing: Bool {
        get async throws { try await store.pairing.isShowing() }
    }

    /// Begins an attempt, which counts from this moment on, whatever its result.
    ///
    /// - Parameter address: the origin of the attempt; nil if attempts are not counted by origin.
    /// - Throws: ``ProtocolError`` `pairingUnavailable`, `pairingBusy`; ``/PeerSyncStore/RecordStoreError`` `tooManyAttempts`,
    ///   and then the attempt does not count.
    func beginAttempt(from address: String? = nil) async throws -> Attempt {
        do {
            let attempt = try await store.pairing.begin(from: address)
            return Attempt(code: try PairingCode(attempt.code), number: attempt.id)
        } catch StorePairing.Refusal.busy {
            throw ProtocolError(
                .pairingBusy, "another machine is trying the pairing code at this moment; try again")
        } catch StorePairing.Refusal.unavailable {
            throw Self.unavailable
        }
    }

    static let unavailable = ProtocolError(
        .pairingUnavailable, "no pairing code is valid there (it expired, was used up, or none was shown)")

    /// Ends an attempt. A code shown since then stays as it is.
    ///
    /// - Returns: how many attempts are left.
    @discardableResult
    func endAttempt(_ attempt: Attempt, succeeded: Bool) async throws -> Int {
        try await store.pairing.end(attempt.number, succeeded: succeeded)
    }
}
