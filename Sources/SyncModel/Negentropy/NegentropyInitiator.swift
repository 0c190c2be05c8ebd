/// The side that asks: it begins, and learns which items either side lacks.
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
/// Neither the items nor those of the other side may change meanwhile. Without frame limits, a reconciliation of n
/// items takes at most log16(n) + 3 messages, both ways counted. With them, it takes about as many rounds as frames
/// are needed for what differs; the limits of the two sides should not be far apart, as a side with small frames
/// answers only the beginning of what a large frame asks.
package struct NegentropyInitiator<Storage: NegentropyStorage>: Sendable {
    /// What one message of the other side has led to.
    package struct Step: Sendable {
        /// Ids that this side has and the other has not, each told once in a reconciliation.
        package var have: [NegentropyID] = []
        /// Ids that the other side says it has and this side has not, each told once. Only a claim: an id may turn
        /// out not to exist, or to be here under another timestamp.
        package var need: [NegentropyID] = []
        /// What to send next; nil when both sides are through.
        package var message: [UInt8]?
    }

    private enum State {
        case running(rounds: Int)
        case ended
    }

    private let reconciler: NegentropyReconciler<Storage>
    private let maximumRounds: Int
    private let maximumNeed: Int
    private var state = State.running(rounds: 0)
    // With a frame limit a range may be listed again in a later round.
    private var toldHave: [Bool] = []
    private var toldNeed: Set<NegentropyID> = []

    /// Prepares a reconciliation.
    ///
    /// - Parameters:
    ///   - frameSizeLimit: The greatest length in bytes of messages that this side sends: 0 for none, or at least
    ///     4096. The other side has a limit of its own.
    ///   - maximumRounds: After how many answers of the other side to give up, as it might never come to an end.
    ///   - maximumNeed: How many ids the other side may claim to have that this side lacks. They are kept until
    ///     the end, at some 64 bytes each.
    package init(
        storage: Storage, frameSizeLimit: Int = 0, maximumRounds: Int = 100_000, maximumNeed: Int = 1 << 22
    ) {
        reconciler = NegentropyReconciler(storage: storage, role: .initiator, frameSizeLimit: frameSizeLimit)
        self.maximumRounds = maximumRounds
        self.maximumNeed = maximumNeed
    }

    /// The first message: at most about 1,000 bytes, and the same whenever it is asked for.
    package func initiate() -> [UInt8] {
        reconciler.opening()
    }

    /// Takes an answer of the other side in.
    ///
    /// Memory and time are bounded by the length of `message` and the number of own items. After an error the
    /// reconciliation has ended.
    package mutating func reconcile(_ message: [UInt8]) throws(NegentropyError) -> Step {
        guard case .running(let rounds) = state else { throw .ended }
        state = .ended
        guard rounds < maximumRounds else { throw .tooManyRounds(maximumRounds) }
        let answer = try reconciler.answer(to: message)
        var step = Step()
        for (own, theirs) in answer.lists {
            try settle(own, theirs, into: &step)
        }
        // The version byte alone: nothing is left to say.
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
        for (index, item) in zip(own, reconciler.storage.items(in: own)) {
            guard missing.remove(item.id) == nil else { continue }
            if toldHave.isEmpty { toldHave = Array(repeating: false, count: reconciler.storage.count) }
            guard !toldHave[index] else { continue }
            toldHave[index] = true
            step.have.append(item.id)
        }
        // In the order in which they came, which is that of the items; the set has none.
        for id in theirs where missing.remove(id) != nil && toldNeed.insert(id).inserted {
            guard toldNeed.count <= maximumNeed else { throw .tooManyNeeded(maximumNeed) }
            step.need.append(id)
        }
    }
}
