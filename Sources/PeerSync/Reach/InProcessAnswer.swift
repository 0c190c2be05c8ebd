import Logging
import PeerSyncProtocol
import Synchronization

/// The answering side of a connection within this process: an engine that answers one connection, as its listener would.
final class InProcessAnswer: Sendable {
    /// What both sides take for the address of the other one.
    static let address = "this process"

    private let engine: SyncEngine
    private let isKnown = Atomic(false)

    init(_ engine: SyncEngine) {
        self.engine = engine
    }

    /// Makes a connection. ``serve(_:)`` has to take its far end.
    ///
    /// - Throws: ``PeerSyncError``: `peerSwitchedOff`, `peerStoreFailure`, `unreachable`.
    func connect() async throws -> (near: ByteChannel, far: ByteChannel) {
        do {
            try await engine.checkSwitch()
            return try await Pipe.make()
        } catch let error as PeerSyncError {
            throw error.code == .switchedOff
                ? PeerSyncError(.peerSwitchedOff, "sync is switched off in the other engine") : error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            engine.logger.warning("a connection within this process cannot be answered: \(error)")
            throw PeerSyncError(.peerStoreFailure, "the other engine's store cannot be read at this moment")
        }
    }

    /// Runs a session to its end. The engine tells the app of errors.
    func serve(_ channel: ByteChannel) async {
        let sessions = SessionSet()
        let session = PeerSession(
            engine, channel, purpose: .answer, address: Self.address,
            onAuthenticated: { self.isKnown.store(true, ordering: .relaxed) })
        do {
            try await engine.whileWatching(sessions, stop: sessions.stopAll) {
                await sessions.run(session) { await self.run(session) }
            }
        } catch let error as PeerSyncError where error.code != .switchedOff {
            engine.onEvent(.storeTrouble(error))
        } catch {
            engine.logger.debug("a session within this process ended: \(error)")
        }
    }

    private func run(_ session: PeerSession) async {
        do {
            _ = try await session.run()
        } catch let error as PeerSyncError where !isKnown.load(ordering: .relaxed) {
            engine.onEvent(.refused(address: Self.address, error))
        } catch {
            // The event `disconnected` has told the app.
            engine.logger.debug("a session within this process ended: \(error)")
        }
    }
}
