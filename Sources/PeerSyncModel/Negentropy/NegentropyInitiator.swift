/// The asking side of a reconciliation: it begins, and learns which items each side lacks.
///
///     var initiator = NegentropyInitiator(storage: items, frameSizeLimit: 60_000)
///     send(initiator.initiate())
///     while true {
///         let step = try initiator.reconcile(receive())
///         // step.have: ids to send records of; step.need: ids to ask for.
///         guard let next = step.message else { break }
///         send(next)
///     }
///
/// The items of both sides must not change while the reconciliation runs. Without frame limits, a reconciliation of n
/// items takes at most log16(n) + 3 messages, counted in both directions. With frame limits, it takes about one round
/// for each frame that the differences fill. The limits of the two sides should be close: a side with small frames
/// answers only the beginning of a large frame.
package struct NegentropyInitiator: Sendable {
    /// The result of one message of the other side.
    package struct Step: Sendable {
        /// Ids that this side has and the other side lacks. A reconciliation reports each id once.
        package var have: [NegentropyID] = []
        /// Ids that the other side claims to have and this side lacks, each reported once. A claim may be false: the
        /// id may not exist, or this side may have it under another timestamp.
        package var need: [NegentropyID] = []
        /// The message to send next; nil when the reconciliation is complete.
        package var message: [UInt8]?
    }

    private enum State {
        case running(rounds: Int)
        case ended
    }

    private let reconciler: NegentropyReconciler
    private let maximumRounds: Int
    private let maximumNeed: Int
    private var state = State.running(rounds: 0)
    // With a frame limit, the other side may list a range again in a later round.
    private var toldHave: Set<Int> = []
    private var toldNeed: Set<NegentropyID> = []

    /// Prepares a reconciliation.
    ///
    /// - Parameters:
    ///   - frameSizeLimit: The greatest length in bytes of messages that this side sends: 0 for no limit, or at least
    ///     4096. The other side has a limit of its own.
    ///   - maximumRounds: The number of answers after which this side gives up, as the other side might never finish.
    ///   - maximumNeed: The greatest number of ids that the other side may claim and this side lacks. The initiator
    ///     keeps them until the end, at some 64 bytes each.
    package init(
        storage: any NegentropyStorage, frameSizeLimit: Int = 0, maximumRounds: Int = 100_000,
        maximumNeed: Int = 1 << 22
    ) {
        reconciler = NegentropyReconciler(storage: storage, role: .initiator, frameSizeLimit: frameSizeLimit)
        self.maximumRounds = maximumRounds
        self.maximumNeed = maximumNeed
    }

    /// Returns the first message: at most about 1,000 bytes, and the same at each call.
    package func initiate() throws(NegentropyError) -> [UInt8] {
        try reconciler.opening()
    }

    /// Handles an answer of the other side.
    ///
    /// The length of `message` and the number of own items bound memory and time. An error ends the reconciliation.
    package mutating func reconcile(_ message: [UInt8]) throws(NegentropyError) -> Step {
        guard case .running(let rounds) = state else { throw .ended }
        state = .ended
        guard rounds < maximumRounds else { throw .tooManyRounds(maximumRounds) }
        let answer = try reconciler.answer(to: message)
        var step = Step()
        for (own, theirs) in answer.lists {
            try settle(own, theirs, into: &step)
        }
        // A message of the version byte alone says nothing more.
        if answer.message.count > 1 {
            step.message = answer.message
            state = .running(rounds: rounds + 1)
        }
        return step
    }

    /// Finds the difference in a range whose ids the other side has listed.
    private mutating func settle(
        _ own: Range<Int>, _ theirs: NegentropyIDList, into step: inout Step
    ) throws(NegentropyError) {
        var missing = Set(theirs)
        for (index, item) in zip(own, try reconciler.storage.items(in: own)) {
            guard missing.remove(item.id) == nil, toldHave.insert(index).inserted else { continue }
            step.have.append(item.id)
        }
        // The message lists ids in the order of the items; the set has no order.
        for id in theirs where missing.remove(id) != nil && toldNeed.insert(id).inserted {
            guard toldNeed.count <= maximumNeed else { throw .tooManyNeeded(maximumNeed) }
            step.need.append(id)
        }
    }
}
