import Foundation
import RecordStore
import SyncModel
import SyncProtocol

/// The zones of a session: what each side offers, what they agree on, and what has to hold meanwhile.
extension PeerSession {
    /// What the session goes by.
    struct Granted: Equatable {
        let zones: [ZoneID]
        let rights: [ZoneRights]
        /// How often the store has given up what it had.
        let erasures: Int64
    }

    /// - Throws: ``PeerSyncError`` `switchedOff`, ``ProtocolError`` `notPaired`.
    private func currentGrants(_ peer: Peer) async throws -> Granted {
        let store = engine.store
        let settings = try await store.settings()
        guard settings.isSyncOn else { throw PeerSyncError.switchedOff }
        guard try await store.peer(key: peer.publicKey)?.id == peer.id else {
            throw ProtocolError(.notPaired, "the pairing of the two machines was ended")
        }
        let zones = try await store.database.read { db in try store.zonesGranted(db, to: peer) }
        return Granted(
            zones: zones.map(\.zone.id), rights: zones.map(\.rights), erasures: settings.erasures)
    }

    func agree(
        with peer: Peer, _ offers: [ZoneOffer], _ hello: Message.Hello, startsOver: Bool,
        _ reader: inout MessageReader
    ) async throws -> [ZoneAgreement.Entry] {
        // People may be asked, on either side.
        watchdog.expect(within: deadlines.decision)
        let agreement = ZoneAgreement(
            engine: engine, peer: peer, isCaller: purpose.role == .initiator, own: offers,
            theirs: hello.zones, held: Set(try await engine.store.zones().map(\.id))
        ) { [self] question in try await ask(question, peer) }
        let zones: [ZoneAgreement.Entry]
        if let call = purpose.call {
            zones = try await agreement.call(call.union?.current, startsOver: startsOver, outbox: outbox) {
                try await self.nextMessage(&reader)
            }
            call.union?.wasDone()
            if startsOver { try await startOver(with: peer, zones) }
        } else {
            guard case .open(let open) = try await nextMessage(&reader) else {
                throw ProtocolError(
                    .unexpectedMessage, "the other side did not say which zones it takes part in")
            }
            zones = try await agreement.answer(open, outbox: outbox)
        }
        let grants = try await currentGrants(peer)
        granted.withLock { $0 = (peer, grants) }
        return zones
    }

    /// Asks the user, for as long as the other side waits for the answer.
    ///
    /// - Throws: what ends the session when the other side has gone, or somebody has decided otherwise meanwhile.
    private func ask(_ question: ZoneQuestion, _ peer: Peer) async throws -> ZoneAnswer {
        let channel = connection.channel
        let answer = await withTaskGroup(of: ZoneAnswer?.self) { group in
            group.addTask { await self.engine.decide(question) }
            group.addTask {
                while channel.isActive, (try? await Task.sleep(for: .milliseconds(100))) != nil {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let answer, channel.isActive, !isEnding else {
            throw PeerSyncError(.interrupted, "the connection to \(address) was cut before the answer")
        }
        // The pairing may have been ended, or sync switched off, while they thought.
        _ = try await currentGrants(peer)
        return answer
    }

    /// For a machine that was away too long: forgets what the peer has, in the zones in which it gives it back.
    private func startOver(with peer: Peer, _ zones: [ZoneAgreement.Entry]) async throws {
        let (engine, store) = (engine, engine.store)
        let backup = try await engine.backUp()
        try await store.database.write { db in
            guard try store.moment(db) == backup.moment else {
                throw ProtocolError(
                    .zonesChanged, "the store was written to; starting over has to begin anew")
            }
            let writable = try Set(
                store.zonesGranted(db, to: peer).filter { $0.rights == .write }.map(\.zone.id))
            let shared = zones.filter { writable.contains($0.zone.id) }
            try store.startOver(db, with: peer, in: shared.map { ($0.zone, heldByPeer: $0.heldByPeer) })
        }
        purpose.call?.startOver?.wasDone()
        engine.onEvent(.replaced(name: peer.name, backup: backup.url))
    }

    /// The user has decided something: what this session goes by may not hold any more.
    func settingsChanged() async {
        await endingIfFailed {
            guard let (peer, before) = granted.withLock({ $0 }) else { return }
            guard try await currentGrants(peer) == before else {
                throw ProtocolError(.zonesChanged, "what the two machines share has changed")
            }
        }
    }
}

extension SyncEngine {
    /// The zones that the peer may have, as they are at this moment.
    package func offers(to peer: Peer) async throws -> [ZoneOffer] {
        try await store.readFolded { [store] db in
            try store.zonesGranted(db, to: peer).map { zone, rights in
                ZoneOffer(
                    id: zone.id, name: zone.name, isDefault: zone.isDefault, isShared: zone.isShared,
                    rights: rights, recordCount: zone.digest.count, fingerprint: zone.digest.fingerprint)
            }
        }
    }
}
