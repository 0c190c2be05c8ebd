/// The decisions when to make a connection again, and what the user hears of it. They need no clock of their own.
struct Reconnection: Sendable {
    /// The pause before the second attempt; it doubles with each further one.
    static let firstPause: Duration = .milliseconds(500)
    /// The longest pause between attempts.
    static let longestPause: Duration = .seconds(60)

    /// How long to keep trying, and what to say.
    enum Persistence {
        /// Gives up when the first attempt fails, or when a later one fails with an error that another attempt does
        /// not mend.
        case untilItIsHopeless
        /// Never gives up.
        case always
        /// Says nothing of failures, and gives up only when the pairing has ended; for an address that is only
        /// remembered.
        case quietly
        /// As ``quietly``, for a machine that others have introduced. It may not have heard of this one yet, so it is tried
        /// again like one that is not there.
        case patiently
    }

    enum Decision: Sendable, Equatable {
        case giveUp
        /// Tries again after a pause. The reason is nil when the user has heard it, or is not to hear it.
        case tryAgain(after: Duration, telling: PeerSyncError?)
    }

    private let persistence: Persistence
    private var pause = Self.firstPause
    private var hasConnected = false
    /// What the user has heard since both sides were last in sync.
    private var told: Set<String> = []

    init(_ persistence: Persistence) {
        self.persistence = persistence
    }

    /// Decides what follows the end of an attempt, or of the session that it led to.
    ///
    /// - Parameters:
    ///   - error: nil when a goodbye ended the session.
    ///   - wasInSync: whether both sides were in sync meanwhile.
    ///   - length: the length of the attempt and the session.
    mutating func ended(with error: PeerSyncError?, wasInSync: Bool, after length: Duration) -> Decision {
        if let error, gives(up: error) { return .giveUp }
        if error.map({ !$0.comesFromNoPeer }) ?? true { hasConnected = true }
        if wasInSync {
            told = []
            // A standing error that ended a short session will probably end the next one, too.
            if error?.isStanding != true || length >= Self.longestPause { pause = Self.firstPause }
        }
        // Somebody has to act first.
        let mayHear = persistence == .patiently && error?.code == .notPaired
        if error?.isTransient == false, !mayHear { pause = Self.longestPause }
        let current = pause
        pause = min(pause * 2, Self.longestPause)
        return .tryAgain(after: current, telling: reason(error))
    }

    private func gives(up error: PeerSyncError) -> Bool {
        switch persistence {
        case .always: false
        // A machine that is no longer paired is not dialled any more.
        case .quietly: [.notPaired, .removed].contains(error.code)
        case .patiently: error.code == .removed
        case .untilItIsHopeless: !error.isTransient || (!hasConnected && error.comesFromNoPeer)
        }
    }

    private mutating func reason(_ error: PeerSyncError?) -> PeerSyncError? {
        // Somebody announces itself as a paired machine: people hear of that even where a failure is nothing special.
        let isSilent = [.quietly, .patiently].contains(persistence) && error?.code != .otherMachine
        guard !isSilent, error?.code != .duplicateConnection else { return nil }
        let reason = error ?? PeerSyncError(.interrupted, "the other side ended the connection")
        // The message about clocks contains the time, so it is different each time.
        let isNews = told.insert(reason.code == .clockSkew ? "clock" : reason.message).inserted
        return isNews ? reason : nil
    }
}

extension PeerSyncError {
    /// Whether the error only says that no peer is at the address. On the first attempt the address is mostly wrong.
    fileprivate var comesFromNoPeer: Bool {
        [.unreachable, .noPeer, .otherApp, .otherMachine].contains(code)
    }

    /// Whether the error mostly lasts, so that repeated connections which end with it come at growing intervals.
    fileprivate var isStanding: Bool {
        switch code {
        case .storeBusy, .diskFailure, .peerStoreFailure, .protocolViolation, .clockSkew, .notPermitted,
            .peerSwitchedOff:
            true
        case .unreachable, .otherMachine, .noDiscovery, .cannotListen, .noPeer, .otherApp, .interrupted,
            .timeout, .duplicateConnection, .zonesChanged, .storeMended:
            false
        // Somebody has to act first. Who connects again all the same waits for the longest pause each time.
        case .noMachineFound, .severalMachinesFound, .notPaired, .removed, .householdFull,
            .changeTokenExpired, .sameIdentity, .noCommonZone, .differentZones, .declined, .notAllowed,
            .pairingFailed, .pairingUnavailable, .pairingBusy, .tooManyAttempts, .invalidInput, .incompatible,
            .switchedOff, .unsafeIdentity, .foreignIdentity, .invalidIdentity, .missingIdentity,
            .storeUnusable, .damagedRecord:
            false
        // ErrorCodeTests find no other.
        default: false
        }
    }
}
