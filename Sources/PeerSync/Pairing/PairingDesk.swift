import SecureChannel
import SyncProtocol

/// Keeps the pairing code that this machine shows, and what may be done with it: it lives five minutes, allows
/// three attempts counted over all addresses, one at a time, and pairs one machine. How many attempts an address has, over
/// all codes, the store keeps.
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
        /// Tells it from codes that are shown later.
        let number: Int
        let expires: ContinuousClock.Instant
        var attemptsLeft: Int
        var isBeingTried = false
    }

    private var shown: Shown?
    private var lastNumber = 0
    private let clock = ContinuousClock()

    public init() {}

    /// Makes a code and shows it from now on; one shown before is void.
    public func show(lifetime: Duration = PairingDesk.lifetime) -> PairingCode {
        let code = PairingCode.random()
        lastNumber += 1
        shown = Shown(
            code: code, number: lastNumber, expires: clock.now + lifetime, attemptsLeft: Self.attempts)
        return code
    }

    /// Begins an attempt, which counts from this moment on, whatever becomes of it.
    ///
    /// - Parameter admit: asked before the attempt counts, and while no other can begin, which is told that the code is
    ///   busy; what it throws refuses the attempt.
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
        // Another code may have been shown meanwhile.
        guard shown?.number == current.number else { throw Self.unavailable }
        shown?.attemptsLeft -= 1
        return Attempt(code: current.code, number: current.number)
    }

    private static let unavailable = ProtocolError(
        .pairingUnavailable,
        "no pairing code is valid there (it expired, was used up, or none was shown)")

    /// Ends the attempt that was begun; a code that is shown since is not touched.
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
