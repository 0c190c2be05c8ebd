import NIOCore
import RecordStore
import SecureChannel
import SyncProtocol
import Synchronization

/// One connection with one machine, from the first byte to the last: does for ``Session`` what it asks for.
///
/// One task reads messages and hands them to the machine; one writes what it sends; each zone has two, files have some.
/// Whoever hands something in performs the actions that come back, so the reader waits for the store, and the peer for the
/// reader.
final class PeerSession: Sendable {
    /// So many batches that have come wait to be applied, over all zones.
    static let decodedBatches = 2

    let engine: SyncEngine
    let outbox = Outbox()
    let statistics: StatisticsCounter
    let connection: ByteChannel
    let address: String
    let deadlines: Deadlines
    let purpose: SessionPurpose
    /// What the user wants to be done once, however many connections that takes.
    let wish: SessionWish?
    private let machine: Mutex<Session>
    let parts = Mutex(Parts())
    let jobs = JobQueue()
    let watchdog: Watchdog
    /// Raised when something was handed in outside of the reading task, which may wait for it.
    private let answered = Signal()
    /// Called once, when the other side has proved to be paired.
    let onAuthenticated: @Sendable () -> Void

    /// What a session comes to have on its way.
    struct Parts {
        var attempt: PairingDesk.Attempt?
        var peer: Peer?
        var entry: Connections.Entry?
        /// The session hears of what the user decides.
        var settings: Registry<PeerSession>.Membership?
        var work: Work?
    }

    /// What a session has once the two have agreed.
    struct Work {
        let zones: [ZoneWorker]
        let files: AssetSession
        /// The session hears of changes of the store, and of files that come and go.
        var memberships: [any Sendable] = []
    }

    init(
        _ engine: SyncEngine, _ connection: ByteChannel, purpose: SessionPurpose, wish: SessionWish? = nil,
        address: String, deadlines: Deadlines = Deadlines(),
        onAuthenticated: @escaping @Sendable () -> Void = {}
    ) {
        self.engine = engine
        self.connection = connection
        self.purpose = purpose
        self.wish = wish
        self.address = address
        self.deadlines = deadlines
        self.onAuthenticated = onAuthenticated
        statistics = StatisticsCounter(engine.metrics)
        watchdog = Watchdog(connection.channel, within: deadlines.handshake, writing: deadlines.writing)
        machine = Mutex(
            Session(
                Session.Identity(
                    key: engine.identity.publicKey, replica: engine.store.replica, instance: engine.instance,
                    displayName: engine.displayName), purpose))
    }

    // MARK: The machine

    /// Hands something in, and does what comes of it.
    func handle(_ event: (inout Session) -> [Session.Action]) async {
        await perform(take(event))
    }

    /// Hands something in.
    ///
    /// What is sent first leaves at once, in the order in which the machine says so, whichever tasks hand something in.
    ///
    /// - Returns: what else is to be done.
    private func take(_ event: (inout Session) -> [Session.Action]) -> ArraySlice<Session.Action> {
        let (actions, timeout) = machine.withLock { machine in
            var actions = event(&machine)[...]
            while case .send(let message)? = actions.first {
                actions.removeFirst()
                do throws(ProtocolError) {
                    try outbox.send(message)
                } catch {
                    actions = machine.failed(error, toldToPeer: error)[...]
                }
            }
            return (actions, machine.timeout)
        }
        watch(timeout)
        answered.raise()
        return actions
    }

    @discardableResult
    func update<Value>(_ body: (inout Session) -> Value) -> Value { machine.withLock { body(&$0) } }

    /// Sends a message that the machine gives, if it gives one.
    ///
    /// - Returns: whether it did.
    func send(_ message: (inout Session) -> Message?) throws -> Bool {
        try machine.withLock { machine in
            guard let message = message(&machine) else { return false }
            try outbox.send(message)
            return true
        }
    }

    /// Ends the session because of an error that the machine has not found itself.
    func fail(_ error: any Error) async {
        await handle { $0.failed(error, toldToPeer: ProtocolError(toldToPeer: error)) }
    }

    /// Says goodbye and ends, without waiting for it.
    func stop() {
        // All that is left to do is to leave.
        if !take({ $0.stop() }).isEmpty { outbox.finish() }
    }

    private func watch(_ timeout: Session.Timeout, isNew: Bool = false) {
        let time =
            switch timeout {
            case .handshake: deadlines.handshake
            case .greeting: deadlines.greeting
            case .decision: deadlines.decision
            case .silence: deadlines.silence
            case .farewell: deadlines.farewell
            }
        watchdog.watch(timeout, within: time, isNew: isNew)
    }

    // MARK: Running

    /// Runs the session to its end.
    ///
    /// - Returns: what came of it, when both sides were found equal at least once.
    /// - Throws: ``PeerSyncError``.
    func run() async throws -> SyncReport? {
        do {
            try await connection.executeThenClose { inbound, outbound in
                await withTaskGroup { group in
                    group.addTask { await self.watchdog.run() }
                    await self.converse(inbound, outbound)
                    group.cancelAll()
                }
            }
        } catch {
            await fail(error)
        }
        return try await conclude()
    }

    private func converse(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async {
        var bytes = InboundBytes(inbound)
        do {
            let (ciphers, frames) = try await Handshake.run(
                purpose.role, app: engine.app, identity: engine.identity, reader: &bytes, outbound: outbound)
            // The handshake's own frames: three, of fixed sizes but for what version the payload names.
            statistics.update { $0.bytesSent += purpose.role == .initiator ? 108 : 98 }
            let reader = MessageReader(bytes, MessageDecoder(frames, ciphers.receive))
            await converse(reader, ciphers, outbound)
        } catch {
            await fail(handshakeFailure(error))
        }
    }

    /// Everything after the handshake. Whatever ends the conversation, what waits to be sent is sent first.
    private func converse(
        _ messages: consuming MessageReader, _ ciphers: TransportCiphers,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async {
        var reader = messages
        await withTaskGroup { writing in
            let encoder = MessageEncoder(ciphers.send)
            writing.addTask {
                do {
                    try await self.outbox.drain(
                        into: outbound, writer: encoder, counting: self.statistics, watchdog: self.watchdog)
                } catch {
                    await self.fail(error)
                }
            }
            await withTaskGroup { group in
                group.addTask { await self.jobs.run() }
                await self.handle {
                    $0.secured(
                        SecuredChannel(
                            remoteKey: ciphers.remoteStatic, handshakeHash: ciphers.handshakeHash))
                }
                await self.read(&reader)
                group.cancelAll()
            }
            outbox.finish()
        }
    }

    private func read(_ reader: inout MessageReader) async {
        while true {
            let (limit, timeout, isOver) = update { ($0.maximumMessage, $0.timeout, $0.isOver) }
            if isOver { return }
            reader.limit = limit
            watch(timeout, isNew: true)
            let message: Message?
            do {
                // A long message on a slow line is no silence.
                message = try await reader.next { self.watch(timeout, isNew: true) }
            } catch {
                // What has come before is not lost, nor why this side has closed the connection.
                await settle()
                return await fail(error)
            }
            guard let message else {
                await settle()
                return await fail(cut)
            }
            statistics.update {
                $0.bytesReceived = reader.byteCount
                if case .reconcile = message { $0.reconciliationRounds += 1 }
            }
            await makeReady(for: message)
            // However long the own disk takes, it is not the peer that is silent.
            if update({ $0.isExchanging }) { watchdog.expect(within: deadlines.handling) }
            await handle { $0.received(message) }
            await stopIfDone()
        }
    }

    /// Waits until the machine may be given a message.
    private func makeReady(for message: Message) async {
        while true {
            switch update({ $0.readiness(for: message) }) {
            case .ready: return
            case .afterBatches(let number):
                let zones = parts.withLock { $0.work?.zones } ?? []
                if zones.indices.contains(number) { await zones[number].arrived.drained() }
                return
            case .afterAllBatches: return await settle()
            case .afterAnswers:
                guard await answered.wait() else { return }
            }
        }
    }

    /// Waits until all batches that have come are dealt with.
    private func settle() async {
        for zone in parts.withLock({ $0.work?.zones }) ?? [] { await zone.arrived.drained() }
    }

    /// Ends a session that was to sync once, when both sides hold the same, and have what files they can give each other.
    func stopIfDone() async {
        guard update({ $0.awaitsFiles }), let files, await files.isDone() else { return }
        await handle { $0.filesSettled() }
    }
}
