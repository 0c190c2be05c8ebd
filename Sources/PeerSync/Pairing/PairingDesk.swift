import PeerSyncChannel
import PeerSyncProtocol

/// The pairing code that this machine shows, and its limits.
///
/// A code lives five minutes, pairs one machine, and allows three attempts over all addresses, one at a time. The
/// store counts the attempts of each address over all codes.
public actor PairingDesk {
    /// How long a code lives.
    public static let lifetime: Duration = .seconds(300)
    /// How many times a code may be tried.
    public static let attempts = 3

    /// An attempt that has begun.
    struct Attempt {
        let code: PairingCode
        fileprivate let number: Int
    }

    private struct Shown {
        let code: PairingCode
        /// Distinguishes this code from later ones.
        let number: Int
        let expires: ContinuousClock.Instant
        var attemptsLeft: Int
        var isBeingTried = false
    }

    private var shown: Shown?
    private var lastNumber = 0
    private let clock = ContinuousClock()

    /// Makes a desk that shows no code.
    public init() {}

    /// Makes a code and shows it from now on. A code shown before becomes void.
    public func show(lifetime: Duration = PairingDesk.lifetime) -> PairingCode {
        let code = PairingCode.random()
        lastNumber += 1
        shown = Shown(
            code: code, number: lastNumber, expires: clock.now + lifetime, attemptsLeft: Self.attempts)
        return code
    }

    /// Begins an attempt, which counts from this moment on, whatever its result.
    ///
    /// - Parameter admit: called before the attempt counts. An error that it throws refuses the attempt. Other
    ///   attempts that begin meanwhile fail with `pairingBusy`.
    func beginAttempt(admitting admit: () async throws -> Void = {}) async throws -> Attempt {
        guard let current = shown, current.expires > clock.now, current.attemptsLeft > 0 else {
            shown = nil
            throw Self.unavailable
        }
        guard !current.isBeingTried else {
            throw ProtocolError(
                .pairingBusy, "another machine is trying the pairing code at this moment; try again")
        }
        shown?.isBeingTried = true
        do {
            try await admit()
        } catch {
            if shown?.number == current.number { shown?.isBeingTried = false }
            throw error
        }
        // Somebody may have shown another code meanwhile.
        guard shown?.number == current.number else { throw Self.unavailable }
        shown?.attemptsLeft -= 1
        return Attempt(code: current.code, number: current.number)
    }

    private static let unavailable = ProtocolError(
        .pairingUnavailable,
        "no pairing code is valid there (it expired, was used up, or none was shown)")

    /// Ends an attempt. A code shown since then stays as it is.
    ///
    /// - Returns: how many attempts are left.
    @discardableResult
    func endAttempt(_ attempt: Attempt, succeeded: Bool) -> Int {
        guard var current = shown, current.number == attempt.number else { return 0 }
        current.isBeingTried = false
        shown = succeeded ? nil : current
        return shown?.attemptsLeft ?? 0
    }
}
