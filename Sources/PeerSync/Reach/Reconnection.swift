/// Decides when a connection that ended is made again, and what the user hears of it. Has no clock of its own.
struct Reconnection: Sendable {
    /// The pause before the second attempt; it doubles with each further one.
    static let firstPause: Duration = .milliseconds(500)
    /// The longest pause between attempts.
    static let longestPause: Duration = .seconds(60)

    /// When to give up, and what to say.
    enum Persistence {
        /// Gives up when the first attempt fails, or a later one in a way that trying again does not mend.
        case untilItIsHopeless
        /// Never gives up.
        case always
        /// Never gives up, and says nothing of failures; for an address that is only remembered.
        case quietly
    }

    enum Decision: Sendable, Equatable {
        case giveUp
        /// To try again after a pause; the reason is nil when the user has heard it, or is not to hear it.
        case tryAgain(after: Duration, telling: PeerSyncError?)
    }

    private let persistence: Persistence
    private var pause = Self.firstPause
    private var hasConnected = false
    /// What the user has heard since both sides held the same.
    private var told: Set<String> = []

    init(_ persistence: Persistence) {
        self.persistence = persistence
    }

    /// An attempt, and the session that came of it if one did, has ended.
    ///
    /// - Parameters:
    ///   - error: nil when a goodbye ended it.
    ///   - wasInSync: whether both sides held the same meanwhile.
    ///   - length: how long it took.
    mutating func ended(with error: PeerSyncError?, wasInSync: Bool, after length: Duration) -> Decision {
        if let error, gives(up: error) { return .giveUp }
        if error.map({ !$0.comesFromNoPeer }) ?? true { hasConnected = true }
        if wasInSync {
            told = []
            // What was there at the end of a short session will probably be there at the end of the next.
            if error?.isStanding != true || length >= Self.longestPause { pause = Self.firstPause }
        }
        // Somebody has to do something first.
        if error?.isTransient == false { pause = Self.longestPause }
        let current = pause
        pause = min(pause * 2, Self.longestPause)
        return .tryAgain(after: current, telling: reason(error))
    }

    private func gives(up error: PeerSyncError) -> Bool {
        switch persistence {
        case .always: false
        // Whoever was forgotten is not looked for any more.
        case .quietly: error.code == .notPaired
        case .untilItIsHopeless: !error.isTransient || (!hasConnected && error.comesFromNoPeer)
        }
    }

    private mutating func reason(_ error: PeerSyncError?) -> PeerSyncError? {
        guard persistence != .quietly, error?.code != .duplicateConnection else { return nil }
        let reason = error ?? PeerSyncError(.interrupted, "the other side ended the connection")
        // The sentence about clocks has the time in it, and so is another one each time.
        let isNews = told.insert(reason.code == .clockSkew ? "clock" : reason.message).inserted
        return isNews ? reason : nil
    }
}

extension PeerSyncError {
    /// Whether it says only that no peer is at the address. On the first attempt that is mostly a wrong address.
    fileprivate var comesFromNoPeer: Bool { [.unreachable, .noPeer, .otherApp].contains(code) }

    /// Whether it mostly lasts, so that connections which end with it one after the other are made less and less often.
    fileprivate var isStanding: Bool {
        [
            .storeBusy, .diskFailure, .peerStoreFailure, .protocolViolation, .clockSkew, .notPermitted,
            .peerSwitchedOff,
        ].contains(code)
    }
}
