import Synchronization

/// A count of refused strangers. It decides which refusals the user hears of, and has no clock of its own.
struct RefusalTally: Sendable {
    /// How many refusals are told one by one. Further ones are only counted, until a period passes without any; so is one that is
    /// told already, of the same address for the same reason.
    static let toldOneByOne = 8

    struct Rest: Sendable, Equatable {
        var count: Int
        var address: String
        var reason: PeerSyncError
    }

    private let period: Duration
    private var told: Set<String> = []
    private var rest: Rest?
    private var hasAny = false
    /// The end of the current period, if there is one.
    private(set) var end: ContinuousClock.Instant?

    init(period: Duration = .seconds(60)) {
        self.period = period
    }

    /// - Returns: whether to tell this refusal.
    mutating func add(_ address: String, _ reason: PeerSyncError, at now: ContinuousClock.Instant) -> Bool {
        end = end ?? now + period
        hasAny = true
        if told.count < Self.toldOneByOne, told.insert("\(address): \(reason.message)").inserted {
            return true
        }
        rest = Rest(count: (rest?.count ?? 0) + 1, address: address, reason: reason)
        return false
    }

    /// Ends the period if it is over.
    ///
    /// - Returns: the refusals that were only counted, to be told now.
    mutating func endPeriod(at now: ContinuousClock.Instant) -> Rest? {
        guard let end, end <= now else { return nil }
        if !hasAny { told = [] }
        self.end = hasAny ? now + period : nil
        hasAny = false
        return takeRest()
    }

    mutating func takeRest() -> Rest? {
        defer { rest = nil }
        return rest
    }
}

/// The reporter of refused strangers: tells the app of the first ones one by one, then of their number in each minute.
/// So strangers cannot fill a terminal or a log.
final class Refusals: Sendable {
    private let tally: Mutex<RefusalTally>
    private let onEvent: @Sendable (SyncEvent) -> Void
    private let begin = Signal()

    init(_ tally: RefusalTally = RefusalTally(), onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.tally = Mutex(tally)
        self.onEvent = onEvent
    }

    func add(_ address: String, because reason: PeerSyncError) {
        let isTold = tally.withLock { $0.add(address, reason, at: .now) }
        begin.raise()
        if isTold { onEvent(.refused(address: address, reason)) }
    }

    /// Tells the number at the end of each period until cancelled, and then the rest. Runs only once.
    func run() async {
        for await _ in begin {
            while let end = tally.withLock({ $0.end }), (try? await Task.sleep(until: end)) != nil {
                tell(tally.withLock { $0.endPeriod(at: .now) })
            }
        }
        tell(tally.withLock { $0.takeRest() })
    }

    private func tell(_ rest: RefusalTally.Rest?) {
        guard let rest else { return }
        onEvent(.refusedMore(count: rest.count, address: rest.address, rest.reason))
    }
}
