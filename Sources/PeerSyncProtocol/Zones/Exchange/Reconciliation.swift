import PeerSyncModel

/// One side's part in the reconciliation of a zone: the caller asks, the listener answers. In the end each side knows
/// which of its records the other lacks.
struct Reconciliation: Sendable {
    private enum State {
        /// The store checks its records. The listener may have a question already.
        case checkingRecords(question: Message.Reconcile?)
        /// The listener waits for the caller's first question.
        case awaitingQuestion
        /// The store takes the inventory. The listener has a question already.
        case takingInventory(question: Message.Reconcile?)
        case asking(Asking)
        case answering(Answering)
        case ended
        /// This side is handling a step of the peer, or the step has broken the rules.
        case stepping
    }

    private struct Asking {
        var initiator: NegentropyInitiator
        var have: [NegentropyID] = []
    }

    private struct Answering {
        let responder: NegentropyResponder
        /// The number of records that the peer may want.
        let limit: Int
        var rounds = 0
        var wanted: [NegentropyID] = []
    }

    private let zone: Int
    private let isCaller: Bool
    private let isAtBeginning: Bool
    private let maximumRounds: Int
    private var state = State.checkingRecords(question: nil)
    /// The token of the inventory, if the streams begin there.
    private(set) var snapshot: ChangeToken?

    /// - Parameter isAtBeginning: whether the two have just begun. In the middle of a session the streams go on where
    ///   they were, because no inventory has deletions.
    init(
        zone: Int, isCaller: Bool, isAtBeginning: Bool,
        maximumRounds: Int = ProtocolLimits.maximumReconciliationRounds
    ) {
        self.zone = zone
        self.isCaller = isCaller
        self.isAtBeginning = isAtBeginning
        self.maximumRounds = maximumRounds
    }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    mutating func begin() -> [ZoneExchange.Action] {
        isAtBeginning ? recordsChecked() : [.checkRecords]
    }

    mutating func recordsChecked() -> [ZoneExchange.Action] {
        guard case .checkingRecords(let question) = state else { return [] }
        guard isCaller || question != nil else {
            state = .awaitingQuestion
            return []
        }
        state = .takingInventory(question: question)
        return [.takeInventory]
    }

    mutating func inventoryTaken(_ items: any NegentropyStorage, at token: ChangeToken) throws(ProtocolError)
        -> [ZoneExchange.Action]
    {
        guard case .takingInventory(let question) = state else { return [] }
        if isAtBeginning { snapshot = token }
        let limit = ProtocolLimits.reconciliationFrame
        guard let question else {
            let initiator = NegentropyInitiator(
                storage: items, frameSizeLimit: limit,
                maximumRounds: maximumRounds)
            state = .asking(Asking(initiator: initiator))
            return [send(payload: try Self.understanding(initiator.initiate))]
        }
        let responder = NegentropyResponder(storage: items, frameSizeLimit: limit)
        state = .answering(Answering(responder: responder, limit: items.count))
        return try received(question)
    }

    /// Handles a step of the peer.
    mutating func received(_ step: Message.Reconcile) throws(ProtocolError) -> [ZoneExchange.Action] {
        // The state gives up the value that the step changes: with a second owner, each step would copy all ids found
        // so far.
        let current = state
        state = .stepping
        switch current {
        case .checkingRecords(nil) where !isCaller:
            state = .checkingRecords(question: step)
            return []
        case .awaitingQuestion:
            state = .takingInventory(question: step)
            return [.takeInventory]
        case .asking(var asking): return try ask(&asking, step)
        case .answering(var answering): return try answer(&answering, step)
        case .checkingRecords, .takingInventory, .ended, .stepping:
            throw .unexpected("reconciled out of turn")
        }
    }

    private mutating func ask(_ asking: inout Asking, _ step: Message.Reconcile) throws(ProtocolError)
        -> [ZoneExchange.Action]
    {
        guard !step.isEnd, step.wanted.isEmpty else {
            throw ProtocolError(.unexpectedMessage, "the side that is asked does not end the reconciliation")
        }
        try Self.checkVersion(step.payload)
        let result = try Self.understanding { () throws(NegentropyError) in
            try asking.initiator.reconcile(step.payload)
        }
        guard result.need.count <= ProtocolLimits.maximumTableEntries else {
            throw ProtocolError(.malformed, "the other side lists more records at once than can be wanted")
        }
        asking.have += result.have
        guard let next = result.message else {
            state = .ended
            return [send(isEnd: true, wanted: result.need, payload: []), .resolve(asking.have)]
        }
        state = .asking(asking)
        return [send(wanted: result.need, payload: next)]
    }

    private mutating func answer(_ answering: inout Answering, _ step: Message.Reconcile)
        throws(ProtocolError) -> [ZoneExchange.Action]
    {
        guard step.wanted.count <= answering.limit - answering.wanted.count else {
            throw ProtocolError(.malformed, "the other side wants more records than there are")
        }
        answering.wanted += step.wanted
        guard !step.isEnd else {
            state = .ended
            return [.resolve(answering.wanted)]
        }
        answering.rounds += 1
        guard answering.rounds <= maximumRounds else {
            throw ProtocolError(.malformed, "the reconciliation does not end")
        }
        try Self.checkVersion(step.payload)
        let answer = try Self.understanding { () throws(NegentropyError) in
            try answering.responder.reconcile(step.payload)
        }
        state = .answering(answering)
        return [send(payload: answer)]
    }

    private func send(isEnd: Bool = false, wanted: [NegentropyID] = [], payload: [UInt8])
        -> ZoneExchange.Action
    {
        .send(.reconcile(Message.Reconcile(zone: zone, isEnd: isEnd, wanted: wanted, payload: payload)))
    }

    /// Negentropy could agree on a version; here the version of this protocol fixes it.
    private static func checkVersion(_ payload: [UInt8]) throws(ProtocolError) {
        guard payload.first == NegentropyV1.versionByte else {
            throw .malformed("a reconciliation of another version")
        }
    }

    private static func understanding<Value>(_ body: () throws(NegentropyError) -> Value)
        throws(ProtocolError) -> Value
    {
        do {
            return try body()
        } catch .unreadable {
            throw ProtocolError(.storeFailure, "a machine cannot read the list of its records any more")
        } catch {
            throw ProtocolError(.malformed, "the reconciliation went wrong: \(error)")
        }
    }
}
