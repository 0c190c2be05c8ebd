import SecureChannel
import SyncProtocol

/// Keeps the pairing code that this machine shows, and what may be done with it: it lives five minutes, allows
/// three attempts counted over all addresses, one at a time, and pairs one machine.
public actor PairingDesk {
    /// How long a code lives.
    public static let lifetime: Duration = .seconds(300)
    /// How many times a code may be tried.
    public static let attempts = 3

    private struct Shown {
        let code: PairingCode
        let expires: ContinuousClock.Instant
        var attemptsLeft: Int
        var isBeingTried = false
    }

    private var shown: Shown?
    private let clock = ContinuousClock()

    public init() {}

    /// Makes a code and shows it from now on; one shown before is void.
    public func show(lifetime: Duration = PairingDesk.lifetime) -> PairingCode {
        let code = PairingCode.random()
        shown = Shown(code: code, expires: clock.now + lifetime, attemptsLeft: Self.attempts)
        return code
    }

    /// Begins an attempt, which counts from this moment on, whatever becomes of it.
    func beginAttempt() throws(ProtocolError) -> PairingCode {
        guard var current = shown, current.expires > clock.now, current.attemptsLeft > 0 else {
            shown = nil
            throw ProtocolError(
                .pairingUnavailable,
                "no pairing code is valid there (it expired, was used up, or none was shown); run "
                    + "`scorebook-peer listen --pair` on that machine to get a new one")
        }
        guard !current.isBeingTried else {
            throw ProtocolError(
                .pairingBusy, "another machine is trying the pairing code at this moment; try again")
        }
        current.attemptsLeft -= 1
        current.isBeingTried = true
        shown = current
        return current.code
    }

    /// Ends the attempt that was begun.
    ///
    /// - Returns: how many attempts are left.
    @discardableResult
    func endAttempt(succeeded: Bool) -> Int {
        guard var current = shown else { return 0 }
        current.isBeingTried = false
        let isUsedUp = succeeded || current.attemptsLeft == 0
        shown = isUsedUp ? nil : current
        return isUsedUp ? 0 : current.attemptsLeft
    }
}
