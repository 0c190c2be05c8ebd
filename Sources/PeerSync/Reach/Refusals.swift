import Synchronization

/// Counts strangers that were turned away, and says which of them the user hears of. Has no clock of its own.
struct RefusalTally: Sendable {
    /// So many are told one by one; then they are counted until there was a period without any.
    static let toldOneByOne = 8

    struct Rest: Sendable, Equatable {
        var count: Int
        var address: String
        var reason: PeerSyncError
    }

    private let period: Duration
    private var told = 0
    private var rest: Rest?
    private var hasAny = false
    /// When the period ends, while there is one.
    private(set) var end: ContinuousClock.Instant?

    init(period: Duration = .seconds(60)) {
        self.period = period
    }

    /// - Returns: whether to tell this one.
    mutating func add(_ address: String, _ reason: PeerSyncError, at now: ContinuousClock.Instant) -> Bool {
        end = end ?? now + period
        hasAny = true
        guard told >= Self.toldOneByOne else {
            told += 1
            return true
        }
        rest = Rest(count: (rest?.count ?? 0) + 1, address: address, reason: reason)
        return false
    }

    /// Ends the period, if it is over.
    ///
    /// - Returns: what is to be told of those that were not told one by one.
    mutating func endPeriod(at now: ContinuousClock.Instant) -> Rest? {
        guard let end, end <= now else { return nil }
        if !hasAny { told = 0 }
        self.end = hasAny ? now + period : nil
        hasAny = false
        return takeRest()
    }

    mutating func takeRest() -> Rest? {
        defer { rest = nil }
        return rest
    }
}

/// Tells of strangers that were turned away: the first ones, then how many there were in each minute. Whatever strangers
/// do, they fill no terminal and no log.
final class Refusals: Sendable {
    private let tally: Mutex<RefusalTally>
    private let onEvent: @Sendable (SyncEvent) -> Void
    private let begins: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation

    init(_ tally: RefusalTally = RefusalTally(), onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.tally = Mutex(tally)
        self.onEvent = onEvent
        (begins, begin) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ address: String, because reason: PeerSyncError) {
        let isTold = tally.withLock { $0.add(address, reason, at: .now) }
        begin.yield()
        if isTold { onEvent(.refused(address: address, reason)) }
    }

    /// Tells at the end of each period how many there were, until cancelled; then what is left. To be run once.
    func run() async {
        for await _ in begins {
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
