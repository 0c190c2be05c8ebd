import Logging
import NIOCore
import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore

/// The end of a session, and its meaning for people.
extension PeerSession {
    func conclude() async throws -> SyncReport? {
        do {
            // A session that ends right after the store has kept the peer was no failed attempt.
            await perform(try await endPairingAttempt(succeeded: parts.withLock { $0.peer != nil }))
        } catch {
            // The attempt counts in any case. Nobody can try the code again before this program ends.
            engine.logger.warning("the end of an attempt to pair cannot be noted: \(error)")
        }
        let (parts, machine) = (take(), update { $0 })
        let report = report(machine, parts)
        var failure: PeerSyncError?
        if case .failed(let error)? = machine.end {
            let error = await engine.mended(error)
            failure = understood(error)
            if let understood = failure {
                if understood.message != "\(error)" {
                    engine.logger.warning("the session with \(address) ended: \(error)")
                }
                failure = await inOwnWords(understood, isOfPeer: error is ErrorOfPeer)
            }
            failure?.cameAfterSync = report != nil
            failure?.cameBeforeProof = !parts.hasProof
        }
        if parts.work != nil { engine.metrics.sessionEnded(failure) }
        if let peer = parts.peer {
            if let entry = parts.entry {
                await noteEnd(of: entry, peer, failure)
            } else if let failure, let call = purpose.call, !call.pairing.isTriedNext {
                await noteRefusal(failure, by: peer)
            }
        }
        for waiter in waiters.elements { waiter.raise() }
        if let failure { throw failure }
        if case .failed? = machine.end { throw CancellationError() }
        return report
    }

    /// Reports what the session has done so far; nil if both sides were never in sync.
    func report(_ machine: Session, _ parts: Parts) -> SyncReport? {
        let main = parts.work?.zones.firstIndex(where: \.zone.isDefault) ?? 0
        guard parts.work != nil, let peer = parts.peer, let digest = machine.agreedDigest(zone: main) else {
            return nil
        }
        return SyncReport(
            peer: engine.names.of(peer), statistics: statistics.current, digest: digest,
            didPair: machine.didPair,
            differences: machine.differences,
            // The first zone that checked records has checked the whole store.
            mended: parts.work?.zones.lazy.compactMap(\.mended).first)
    }

    private func take() -> Parts {
        parts.withLock { parts in
            defer { parts = Parts() }
            return parts
        }
    }

    /// Notes the end of a session, even in a task that was cancelled.
    private func noteEnd(
        of connection: Connections.Entry, _ peer: Peer, _ error: PeerSyncError?
    ) async {
        let engine = engine
        engine.connections.leave(connection)
        await Task {
            do {
                try await engine.noteConnected(with: peer, error: error)
            } catch {
                // The cause that keeps the store from being written has mostly ended the session, too, so the user
                // hears of it.
                engine.logger.warning("cannot note that the session with \(peer.name) has ended: \(error)")
            }
        }.value
        engine.onEvent(.disconnected(name: engine.names.of(peer), error))
    }

    /// Notes that a machine that this one calls takes it for no peer, once: nobody else would tell the user, and what was written here waits.
    private func noteRefusal(_ failure: PeerSyncError, by peer: Peer) async {
        // Whom somebody has introduced may not have heard of this machine yet.
        guard failure.code == .removed || failure.code == .notPaired && peer.awaitsChanges else { return }
        do {
            let isTold = try await engine.store.peers.noteRefusal(
                engine.words.explanation(failure), code: failure.code.description, by: peer)
            if isTold { engine.onEvent(.disconnected(name: engine.names.of(peer), failure)) }
        } catch {
            engine.logger.warning("cannot note that \(peer.name) refuses this machine: \(error)")
        }
    }

    /// The meaning of an error for the user here; nil when the task was cancelled.
    private func understood(_ error: any Error) -> PeerSyncError? {
        switch error {
        case is CancellationError: nil
        case let error as PeerSyncError: error
        case let error as ProtocolError: understood(error, isOfPeer: false)
        case let error as ErrorOfPeer: understood(error.error, isOfPeer: true)
        case is EarlyGoodbye: PeerSyncError(.interrupted, "\(address) ended the connection")
        case is SecureChannelError:
            watchdog.hasFired
                ? timeout
                : PeerSyncError(
                    .protocolViolation,
                    "the connection to \(address) was ended, because what came over it is not what was sent")
        case is IOError, is ChannelError:
            watchdog.hasFired
                ? timeout
                : PeerSyncError(
                    .interrupted, "the connection to \(address) was cut: \(ConnectionFailure.reason(error))")
        default: PeerSyncError(store: error)
        }
    }

    /// The meaning of an error of the protocol. The wire does not say which machine's user declined; the direction
    /// does.
    private func understood(_ error: ProtocolError, isOfPeer: Bool) -> PeerSyncError {
        let isCallers = isOfPeer == (purpose.call == nil)
        return error.code == .declined && !isCallers
            ? PeerSyncError(.notAllowed, error.message) : PeerSyncError(error)
    }

    /// Says an error in the words of this machine. The other side calls it what the household does, and knows of its zones only what they are
    /// called everywhere.
    private func inOwnWords(_ failure: PeerSyncError, isOfPeer: Bool) async -> PeerSyncError {
        var message = failure.message
        switch failure.code {
        case .removed where isOfPeer:
            guard let place = message.firstRange(of: " was removed") else { return failure }
            message = "this machine" + message[place.lowerBound...]
        case .notPermitted:
            for zone in (try? await engine.store.zones.all()) ?? [] {
                message.replace("“\(zone.id)”", with: "“\(zone.name)”")
            }
        default: return failure
        }
        return PeerSyncError(failure.code, message, path: failure.path)
    }

    var timeout: PeerSyncError {
        switch watchdog.cause {
        case .blockage: PeerSyncError(.timeout, "\(address) has not read what it was sent for a long time")
        case .silence, nil: PeerSyncError(.timeout, "\(address) did not answer in time")
        }
    }

    /// The other side has closed the connection without an error or a goodbye.
    var cut: PeerSyncError {
        if watchdog.hasFired { return timeout }
        return PeerSyncError(
            .interrupted,
            update { $0.isExchanging }
                ? "the connection to \(address) was cut" : "\(address) closed the connection")
    }

    /// The meaning of a failed handshake.
    func handshakeFailure(_ error: any Error) -> any Error {
        switch error {
        case let error as SecureChannelError
        where error.code == .authenticationFailed && purpose.role == .initiator:
            return PeerSyncError(
                .otherApp,
                "\(address) does not speak this protocol, or another app listens there\(advice)")
        case is SecureChannelError: return noPeer
        case is ExpectedMachine.Mismatch:
            return PeerSyncError(
                .otherMachine, "another machine answers at \(address) than the one that was wanted")
        case is HandshakeCut:
            return watchdog.hasFired
                ? timeout
                : PeerSyncError(
                    .interrupted,
                    "\(address) closed the connection during the handshake: it is busy, or does not speak this protocol"
                )
        case let error as ProtocolError where error.code == .malformed: return noPeer
        default: return error
        }
    }

    private var noPeer: PeerSyncError {
        PeerSyncError(.noPeer, "\(address) does not speak this protocol\(advice)")
    }

    private var advice: String { purpose.call == nil ? "" : "; check the address and the port" }
}
