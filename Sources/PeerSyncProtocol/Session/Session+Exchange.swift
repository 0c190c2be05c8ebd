import PeerSyncChannel
import PeerSyncModel

/// The part of a session after the agreement of the two sides.
extension Session {
    /// Handles the grants of the session from the store: the first ones, or the ones after a change.
    package mutating func grantsRead(_ grants: SessionGrants) -> [Action] {
        switch phase {
        case .granting(let entries):
            let exchange = SessionExchange(
                entries, grants: grants, isCaller: isCaller,
                comparesEverything: purpose.call?.comparesEverything ?? false)
            phase = .beginning(exchange, left: entries.count)
            return exchange.beginnings
        case .beginning(let exchange, _), .exchanging(let exchange):
            guard exchange.grants != grants else { return [] }
            return fail(
                ProtocolError(.zonesChanged, "what the two machines share has changed"))
        default: return []
        }
    }

    /// Handles a decision of the user: the grants of this session may not hold any more.
    package func settingsChanged() -> [Action] {
        switch phase {
        case .beginning: [.readGrants]
        // Another session, or a user, may have changed the household.
        case .exchanging: [.readGrants, .readHousehold]
        default: []
        }
    }

    /// Handles the store's answer: where a zone begins.
    package mutating func began(
        zone number: Int, at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64
    ) -> [Action] {
        guard case .beginning(var exchange, let left) = phase else { return [] }
        phase = .changing
        let actions = exchange.began(
            zone: number, at: token, isHeldTokenVoid: isHeldTokenVoid, recordCount: recordCount)
        guard left == 1 else {
            phase = .beginning(exchange, left: left - 1)
            return actions
        }
        phase = .exchanging(exchange)
        // The session may have missed a decision that the user made since it first read the grants.
        // The household comes before all that the zones exchange. So it has been told when a session that syncs once ends.
        return actions + [.readHousehold, .exchange, .readGrants]
    }

    /// Handles the store's answer: the digest of the household's set; nil if the other side may not have it.
    package mutating func householdRead(_ digest: [UInt8]?) -> [Action] {
        guard case .exchanging(var exchange) = phase, let digest, exchange.toldHousehold != digest else {
            return []
        }
        phase = .changing
        exchange.toldHousehold = digest
        phase = .exchanging(exchange)
        return [.send(.household(digest))]
    }

    /// Handles the store's answer: the household's set for the other side.
    package mutating func householdTold(_ set: Message.HouseholdSet) -> [Action] {
        isExchanging ? [.send(.householdSet(set))] : []
    }

    /// Returns the next request to the store for a zone; nil if there is nothing to do, or too much is on its way
    /// already. The answers are ``batchRead(_:zone:)``, ``namedRead(_:zone:)`` and ``summarized(_:zone:)``.
    package mutating func nextRequest(zone number: Int) -> ZoneExchange.Request? {
        guard end == nil else { return nil }
        return changing { $0.zones[number].exchange.nextRequest() } ?? nil
    }

    /// Notes that the store has changed.
    package mutating func storeChanged(zone number: Int) {
        changing { $0.zones[number].exchange.storeChanged() }
    }

    /// - Returns: the message to send, if the batch tells the peer anything new.
    package mutating func batchRead(_ batch: ChangeBatch, zone number: Int) -> Message? {
        changing { $0.zones[number].exchange.batchRead(batch) } ?? nil
    }

    package mutating func namedRead(_ read: NamedRecords, zone number: Int) -> Message? {
        changing { $0.zones[number].exchange.namedRead(read) } ?? nil
    }

    package mutating func summarized(_ summary: ZoneSummary, zone number: Int) -> [Action] {
        answered(zone: number) { $0.summarized(summary) }
    }

    /// Notes that a batch is durable.
    package mutating func applied(_ batch: ChangeBatch, zone number: Int) -> [Action] {
        answered(zone: number) { $0.applied(batch) }
    }

    package mutating func recordsChecked(zone number: Int) -> [Action] {
        answered(zone: number) { $0.recordsChecked() }
    }

    package mutating func inventoryTaken(
        _ items: any NegentropyStorage, at token: ChangeToken, zone number: Int
    )
        -> [Action]
    {
        answered(zone: number) { zone throws(ProtocolError) in
            try zone.inventoryTaken(items, at: token)
        }
    }

    package mutating func resolved(_ names: [RecordName], zone number: Int) -> [Action] {
        changingExchange { $0.resolved(names, zone: number) }
    }

    package mutating func compared(_ ours: ZoneSummary, with theirs: ZoneSummary, zone number: Int)
        -> [Action]
    {
        let isLeaving = end != nil
        return changingExchange { exchange throws(ProtocolError) in
            try exchange.compared(ours, with: theirs, zone: number, isLeaving: isLeaving)
        }
    }

    /// Notes that the store has stored that both sides hold the same.
    package mutating func inSyncNoted(zone number: Int) -> [Action] {
        changingExchange { exchange in
            exchange.zones[number].notes -= 1
            return []
        }
    }

    /// Whether both sides know that they hold the same records.
    package var isInSync: Bool {
        if case .exchanging(let exchange) = phase { exchange.isSettled } else { false }
    }

    /// Whether a session that syncs once waits only for files.
    package var awaitsFiles: Bool {
        purpose.call?.isOnce == true && isInSync
    }

    /// Ends a session that syncs once: both sides have the files that they can give each other, or do not wait any
    /// more.
    package mutating func filesSettled() -> [Action] { awaitsFiles ? stop() : [] }

    /// Hands an answer of the store to the exchange of a zone.
    private mutating func answered(
        zone number: Int, _ event: (inout ZoneExchange) throws(ProtocolError) -> [ZoneExchange.Action]
    ) -> [Action] {
        changingExchange { exchange throws(ProtocolError) in
            exchange.actions(try event(&exchange.zones[number].exchange), number)
        }
    }

    /// Changes the exchange, if there is one. An error ends the session.
    mutating func changingExchange(
        _ body: (inout SessionExchange) throws(ProtocolError) -> [Action]
    ) -> [Action] {
        do throws(ProtocolError) {
            return try changing(body) ?? []
        } catch {
            return fail(error)
        }
    }

    /// Changes the exchange, if there is one.
    @discardableResult
    mutating func changing<Value, Failure>(
        _ body: (inout SessionExchange) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let current = phase
        phase = .changing
        switch current {
        case .exchanging(var exchange):
            defer { phase = .exchanging(exchange) }
            return try body(&exchange)
        case .leaving(let end, .some(var exchange)):
            defer { phase = .leaving(end, exchange) }
            return try body(&exchange)
        default:
            phase = current
            return nil
        }
    }
}
