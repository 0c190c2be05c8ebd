import PeerSyncProtocol
import PeerSyncStore

/// Performs the actions that a session's machine asks for.
extension PeerSession {
    /// What an action leads to comes before what stands behind it. Of a list with an action that fails, the rest is left out.
    func perform(_ actions: Actions) async {
        var lists = [actions]
        while var list = lists.popLast() {
            guard let action = list.popFirst() else { continue }
            do {
                let next = try await perform(action)
                for rest in [list, next] where !rest.isEmpty { lists.append(rest) }
            } catch  where isCancellation(error) {
                continue
            } catch {
                lists.append(take(failure(error)))
            }
        }
    }

    /// Performs an action, and hands the machine what comes of it.
    ///
    /// - Returns: the actions to which that leads. To perform them here would make a call within a call for each step of a
    ///   session, and a task keeps the memory that its deepest call took.
    private func perform(_ action: Session.Action) async throws -> Actions {
        switch action {
        case .send(let message): try outbox.send(message)
        case .leave: outbox.finish()
        case .findPeer(let key):
            let (peer, refusal) = try await engine.store.peers.identify(key: key.bytes)
            parts.withLock { $0.peer = peer }
            let told = refusal.flatMap { ProtocolError(toldToPeer: $0) }
            return take { machine in
                told.map { machine.peerFound(nil, orElse: $0) } ?? machine.peerFound(peer?.name)
            }
        case .beginPairingAttempt: return try await beginPairingAttempt()
        case .endPairingAttempt(let succeeded): return try await endPairingAttempt(succeeded: succeeded)
        case .keepPeer(let key, let displayName): return try await keepPeer(key, displayName)
        case .authenticated(let didPair): await noteAuthenticated(didPair: didPair)
        case .readOffers: return try await readOffers()
        case .enter(let instance): try await enter(instance)
        case .ask(let question): ask(question)
        case .checkPairing: _ = try await currentGrants()
        case .readTokens(let ids): return try await readTokens(ids)
        case .share(let plan): return try await share(plan)
        case .open(let entries): try await open(entries)
        case .startOver(let entries): try await startOver(entries)
        case .readGrants:
            let grants = try await currentGrants()
            return take { $0.grantsRead(grants) }
        case .exchange: exchange()
        case .begin(let number, let held, let rights):
            return try await zone(number).begin(heldByPeer: held, rights)
        case .noteBegun(let number, let token): try await zone(number).noteBegun(at: token)
        case .zone(let number, let action): return try await zone(number).perform(action)
        case .noteRefused(let number, let reason, let names, let batch):
            try await zone(number).noteRefused(names, reason: reason, in: batch)
        case .noteInSync(let number, let digest): return try await zone(number).noteInSync(digest)
        case .file(let message): try await files?.received(message)
        case .readHousehold: return try await readHousehold()
        case .tellHousehold(let digest): return try await tellHousehold(unless: digest)
        case .takeHousehold(let told): return try await takeHousehold(told)
        }
        return []
    }

    // MARK: Exchanging

    var peer: Peer {
        get throws {
            guard let peer = parts.withLock({ $0.peer }) else { throw CancellationError() }
            return peer
        }
    }

    private func zone(_ number: Int) throws -> ZoneWorker {
        guard let zones = parts.withLock({ $0.work?.zones }), zones.indices.contains(number) else {
            throw CancellationError()
        }
        return zones[number]
    }

    var files: AssetSession? { parts.withLock { $0.work?.files } }

    /// Applies what comes in a zone. The reader waits for that from the moment on in which the other side may send.
    func applyArrived(in zone: ZoneWorker) {
        jobs.add {
            await self.failing { try await zone.applyArrived() }
            // Only after the failure is noted: the reader waits for the zone, and looks for the failure then.
            zone.arrived.close()
        }
    }

    private func exchange() {
        guard let work = parts.withLock({ $0.work }) else { return }
        for zone in work.zones { jobs.add { await self.failing { try await zone.pump() } } }
        jobs.add {
            await self.failing { try await work.files.run { await self.stopIfDone() } }
        }
        let changes = engine.watch.observe { for zone in work.zones { zone.storeChanged() } }
        let files = engine.assets.sessions.add(work.files)
        parts.withLock { $0.work?.memberships = [changes, files] }
    }

    /// Runs a task of the session other than the reader, and ends the session when it fails.
    private func failing(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch  where isCancellation(error) {
            return
        } catch {
            await fail(error)
        }
    }
}
