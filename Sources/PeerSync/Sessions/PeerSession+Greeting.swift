import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// The actions until the two sides have agreed: pairing, greeting, and what becomes of the zones.
extension PeerSession {
    func beginPairingAttempt() async throws -> Actions {
        let network = NetworkAddress(address).description
        // One address must not use up code after code, nor block others with attempts that are refused again and
        // again.
        try await engine.store.peers.checkPairingAttempt(from: network)
        let attempt = try await engine.pairing.beginAttempt(from: network)
        parts.withLock { $0.attempt = attempt }
        return take { $0.pairingAttemptBegan(attempt.code) }
    }

    /// Ends the attempt, if there is one, even in a task that was cancelled: the code would stay busy.
    func endPairingAttempt(succeeded: Bool) async throws -> Actions {
        let attempt = parts.withLock { parts in
            defer { parts.attempt = nil }
            return parts.attempt
        }
        guard let attempt else { return [] }
        let left = try await Task { [engine] in
            try await engine.pairing.endAttempt(attempt, succeeded: succeeded)
        }.value
        guard !succeeded else { return [] }
        engine.onEvent(.pairingFailed(address: address, attemptsLeft: left))
        return take { $0.pairingAttemptFailed(attemptsLeft: left) }
    }

    func keepPeer(_ key: PublicKey, _ displayName: String) async throws -> Actions {
        let peer =
            if purpose.call == nil {
                try await engine.keepCaller(
                    key: key.bytes, name: displayName, from: NetworkAddress(address).description,
                    code: parts.withLock { $0.attempt?.number })
            } else {
                try await engine.store.peers.add(
                    key: key.bytes, name: displayName, besides: engine.displayName, introductionIsDue: true)
            }
        parts.withLock { $0.peer = peer }
        return take { $0.peerKept(peer.name) }
    }

    func noteAuthenticated(didPair: Bool) async {
        onAuthenticated()
        if didPair, let peer = parts.withLock({ $0.peer }) { engine.onEvent(.paired(name: peer.name)) }
        // A connection that has just closed takes no options, but the session still reads what the other side said
        // before.
        try? await connection.channel.setOption(.recvAllocator, value: SocketOptions.peersBuffer).get()
    }

    func readOffers() async throws -> Actions {
        let (offers, held, declined) = try await engine.offers(to: peer)
        return take {
            $0.offersRead(offers, held: held, declined: declined, clock: self.engine.store.now())
        }
    }

    func enter(_ instance: UInt64) async throws {
        let peer = try peer
        let entry = try engine.connections.enter(
            self, peer: peer.id, instance: instance, isPreferred: isPreferred(over: peer.publicKey))
        parts.withLock {
            $0.entry = entry
            $0.greetedAt = engine.store.now()
        }
        jobs.add {
            while (try? await Task.sleep(for: self.deadlines.ping)) != nil { self.ping() }
        }
        engine.names.note(peer, [])
        engine.onEvent(.connected(name: peer.name, address: address))
        // Only what reads as an address can be dialled again.
        if purpose.call != nil, PeerAddress(address) != nil {
            try await engine.store.peers.noteAddress(address, of: peer)
        }
    }

    /// Whether this connection stays when the other side has also connected to this one: the connection that the side
    /// with the smaller key has made.
    private func isPreferred(over key: [UInt8]) -> Bool {
        let isOwnKeySmaller = engine.identity.publicKey.bytes.lexicographicallyPrecedes(key)
        return isOwnKeySmaller == (purpose.role == .initiator)
    }

    // MARK: Agreeing

    func ask(_ question: ZoneQuestion) {
        jobs.add {
            let answer = await self.engine.decide(question)
            guard !Task.isCancelled else { return }
            await self.handle { $0.decided(answer) }
        }
        connection.channel.closeFuture.whenComplete { [jobs] _ in
            jobs.add {
                let cut = self.cut
                await self.handle { $0.left(cut) }
            }
        }
    }

    /// Reads the tokens that the store holds, before this side says in which zones it takes part.
    func readTokens(_ ids: [ZoneID]) async throws -> Actions {
        let (given, greeted) = update { $0.given }
        if !given.isEmpty, greeted > 0 {
            // The other side's clock has gone on while somebody decided.
            let since = parts.withLock { $0.greetedAt }.map { max(engine.store.now() - $0, 0) } ?? 0
            let (clock, isBeyond) = greeted.addingReportingOverflow(since)
            try await engine.store.exchange.checkGiving(
                given, at: isBeyond ? .max : clock, allowedSkew: engine.allowedSkew)
        }
        let tokens = try await engine.store.exchange.receivedTokens(of: peer, in: ids)
        return take { $0.tokensRead(tokens) }
    }

    func share(_ plan: ZonePlan) async throws -> Actions {
        let peer = try peer
        let hasRecords =
            try await plan.replaces
            ? engine.store.zones.all().contains { $0.isDefault && $0.digest.count > 0 } : false
        let backup = plan.replaces ? try await engine.backUp() : nil
        let takenUp = try await engine.store.exchange.share(plan, with: peer, since: backup?.moment)
        wish?.unionWasDone()
        parts.withLock { $0.hasUnited = plan.defaultZone != nil }
        for zone in takenUp { engine.onEvent(.zoneTakenUp(name: peer.name, zone: zone.name)) }
        for zone in try await engine.store.exchange.noteOffered(plan.offered, by: peer)
        where !zone.isDeleted || engine.offeredAgain.withLock({ $0.insert(zone.id).inserted }) {
            engine.onEvent(.zoneOffered(name: peer.name, zone: zone.name, isDeleted: zone.isDeleted))
        }
        // Who had nothing has lost nothing.
        if let backup, hasRecords { engine.onEvent(.replaced(name: peer.name, backup: backup.url)) }
        return take { $0.shared() }
    }

    func open(_ entries: [ZoneAgreement.Entry]) async throws {
        let peer = try peer
        let zones = try await engine.store.zones.find(entries.map(\.id))
        guard zones.count == entries.count else {
            throw ProtocolError(.zonesChanged, "what the two machines share has changed")
        }
        try await engine.store.exchange.noteZones(zones, with: peer)
        if let union = purpose.call?.union, !parts.withLock({ $0.hasUnited }) {
            engine.onEvent(
                .unionPassedOver(name: peer.name, union: union, areOne: zones.contains(where: \.isDefault)))
        }
        // The machine that showed the code may have given this one a single zone. Then they are no household. The session in
        // which the two were paired may have ended before it came here.
        try await engine.store.household.introduceIfDue(
            peer, sharesDefault: zones.contains(where: \.isDefault), by: engine.identity.publicKey.bytes)
        let room = AsyncSemaphore(Self.decodedBatches)
        let work = Work(
            zones: zones.enumerated().map { number, zone in
                ZoneWorker(self, zone, with: peer, number: number, room: room)
            },
            files: AssetSession(
                engine, with: peer, zones: zones, outbox: outbox, statistics: statistics))
        let membership = engine.settings.observers.add { await self.settingsChanged() }
        parts.withLock { parts in
            parts.work = work
            parts.settings = membership
        }
        for zone in work.zones { applyArrived(in: zone) }
        engine.metrics.sessionBegan()
        try await engine.noteConnected(with: peer)
    }

    /// Starts over after a long absence: forgets what the peer has, in the zones in which the peer gives it back.
    func startOver(_ entries: [ZoneAgreement.Entry]) async throws {
        let peer = try peer
        let backup = try await engine.backUp()
        let zones = zip(parts.withLock { $0.work?.zones } ?? [], entries)
        try await engine.store.exchange.startOver(
            with: peer, in: zones.map { ($0.zone, heldByPeer: $1.heldByPeer) }, since: backup.moment)
        wish?.startedOver()
        engine.onEvent(.replaced(name: engine.names.of(peer), backup: backup.url))
    }

    /// - Throws: ``PeerSyncError`` `switchedOff`; `RecordStoreError` `noSuchPeer`, `removed`.
    func currentGrants() async throws -> SessionGrants {
        let (store, peer) = (engine.store, try peer)
        let settings = try await store.settings.current()
        guard settings.isSyncOn else { throw PeerSyncError.switchedOff }
        let (current, refusal) = try await store.peers.identify(key: peer.publicKey)
        guard let current, current.id == peer.id else {
            throw refusal ?? RecordStoreError(.noSuchPeer, "the two machines are not paired")
        }
        let zones = try await store.zones.granted(to: peer)
        engine.names.note(current, zones.map(\.zone))
        return SessionGrants(
            zones: zones.map(\.zone.id), rights: zones.map(\.rights), erasures: settings.erasures)
    }

    /// Tells the machine that the user has decided something.
    func settingsChanged() async { await handle { $0.settingsChanged() } }
}
