import NIOCore
import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore
import Synchronization

/// One connection with one machine, from the first byte to the last: performs the actions that ``Session`` asks for.
///
/// One task reads messages and hands them to the machine, and one writes the messages that it sends. Each zone has two
/// tasks, and files have some. A task that hands an event to the machine performs the resulting actions itself, so the
/// reader waits for the store, and the peer for the reader.
final class PeerSession: Sendable {
    /// How many decoded batches may wait to be applied, over all zones.
    static let decodedBatches = 2

    let engine: SyncEngine
    let outbox = Outbox()
    let statistics: StatisticsCounter
    let connection: ByteChannel
    let address: String
    let deadlines: Deadlines
    let purpose: SessionPurpose
    /// What the user wants to happen once, over however many connections.
    let wish: SessionWish?
    private let machine: Mutex<Session>
    let parts = Mutex(Parts())
    let jobs = JobQueue()
    let watchdog: Watchdog
    /// Raised after each event, because the reader may wait for one that another task hands in.
    private let answered = Signal()
    /// Raised after each event, and after the end, for those who wait until the two sides have caught up.
    let waiters = Registry<Signal>()
    /// Called once, when the other side has proved which key it has.
    private let onProof: @Sendable () -> Void
    /// Called once, when the other side has proved that it is paired.
    let onAuthenticated: @Sendable () -> Void

    /// The parts that a session gets on its way.
    struct Parts {
        var attempt: PairingDesk.Attempt?
        /// Whether the other side has proved who it is.
        var hasProof = false
        var peer: Peer?
        /// The digest of the last whole set of the household that this side has sent.
        var sentHousehold: [UInt8]?
        var entry: Connections.Entry?
        /// When the other side's hello had come, by the clock of this one, in milliseconds since 1970.
        var greetedAt: Int64?
        /// Whether the two default zones have become one, or one of them was replaced.
        var hasUnited = false
        /// Lets the session hear of the user's decisions.
        var settings: Registry<@Sendable () async -> Void>.Membership?
        var work: Work?
    }

    /// The parts that a session has once the two sides have agreed.
    struct Work {
        let zones: [ZoneWorker]
        let files: AssetSession
        /// Lets the session hear of changes of the store, and of files that come and go.
        var memberships: [any Sendable] = []
    }

    init(
        _ engine: SyncEngine, _ connection: ByteChannel, purpose: SessionPurpose, wish: SessionWish? = nil,
        address: String,
        onProof: @escaping @Sendable () -> Void = {}, onAuthenticated: @escaping @Sendable () -> Void = {}
    ) {
        self.engine = engine
        self.connection = connection
        self.purpose = purpose
        self.wish = wish
        self.address = address
        deadlines = engine.deadlines
        self.onProof = onProof
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

    /// Some of the actions that the machine asks for, in its order.
    typealias Actions = ArraySlice<Session.Action>

    /// Hands an event to the machine, and performs the resulting actions.
    func handle(_ event: (inout Session) -> [Session.Action]) async {
        await perform(take(event))
    }

    /// Hands an event to the machine.
    ///
    /// This sends the messages at the head of the actions at once and under the lock, so these leave in the machine's
    /// order, whichever tasks hand in events. The messages behind another action wait for it. It also sets the deadline
    /// under the lock: an older deadline must not replace a newer one.
    ///
    /// - Returns: the remaining actions.
    func take(_ event: (inout Session) -> [Session.Action]) -> Actions {
        let actions = machine.withLock { machine in
            var actions = event(&machine)[...]
            while case .send(let message)? = actions.first {
                actions.removeFirst()
                do throws(ProtocolError) {
                    try outbox.send(message)
                } catch {
                    actions = machine.failed(error, toldToPeer: error)[...]
                }
            }
            watch(machine.timeout)
            return actions
        }
        answered.raise()
        for waiter in waiters.elements { waiter.raise() }
        return actions
    }

    @discardableResult
    func update<Value>(_ body: (inout Session) -> Value) -> Value { machine.withLock { body(&$0) } }

    /// Sends the message that the machine gives, if any.
    ///
    /// - Returns: whether the machine gave one.
    func send(_ message: (inout Session) -> Message?) throws -> Bool {
        try machine.withLock { machine in
            guard let message = message(&machine) else { return false }
            try outbox.send(message)
            return true
        }
    }

    /// Ends the session because of an error that the machine has not found itself.
    func fail(_ error: any Error) async { await handle(failure(error)) }

    func failure(_ error: any Error) -> (inout Session) -> [Session.Action] {
        { $0.failed(error, toldToPeer: ProtocolError(toldToPeer: error)) }
    }

    /// Says goodbye and ends, without waiting for either.
    func stop() {
        // The only action that can remain is to leave.
        if !take({ $0.stop() }).isEmpty { outbox.finish() }
    }

    /// Finds out soon whether the connection still works: a machine may have got another address.
    ///
    /// A peer answers nothing while it works on batches. As long as it has some, silence has its usual time.
    func probe() {
        guard update({ $0.isExchanging && !$0.awaitsAcknowledgement }) else { return }
        watchdog.hasten(to: deadlines.probe, from: deadlines.silence)
        ping()
    }

    /// Shows the other side that this one is there, if the two have got as far.
    func ping() {
        // A full outbox means that the peer does not read; the session ends for that elsewhere.
        _ = try? send { $0.ping() }
    }

    /// Waits until the other side has acknowledged what was written here, and nothing is on its way.
    ///
    /// - Returns: nil when the session ends before, or the task is cancelled.
    func caughtUp() async -> SyncReport? {
        let event = Signal()
        let membership = waiters.add(event)
        defer { membership.end() }
        // Finds out soon if the connection has broken.
        probe()
        let zones = parts.withLock { $0.work?.zones } ?? []
        for (number, zone) in zones.enumerated() {
            update { $0.storeChanged(zone: number) }
            zone.raise()
        }
        repeat {
            let (machine, parts) = (update { $0 }, parts.withLock { $0 })
            if machine.isInSync, let report = report(machine, parts) { return report }
            guard parts.entry != nil else { return nil }
        } while await event.wait()
        return nil
    }

    private func watch(_ timeout: Session.Timeout, isNew: Bool = false) {
        let time =
            switch timeout {
            case .handshake: deadlines.handshake
            case .greeting: deadlines.greeting
            case .decision: deadlines.decision
            case .work: deadlines.handling
            case .silence: deadlines.silence
            case .farewell: deadlines.farewell
            }
        watchdog.watch(timeout, within: time, isNew: isNew)
    }

    /// Sets the deadline when something has come, under the lock as ``take(_:)`` does.
    private func watchAnew() { update { watch($0.timeout, isNew: true) } }

    // MARK: Running

    /// Runs the session to its end.
    ///
    /// - Returns: the report, when both sides were in sync at least once.
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
            let (ciphers, frames, sent) = try await Handshake.run(
                purpose.role, app: engine.app, identity: engine.identity,
                expecting: purpose.call?.expected ?? .anyone, reader: &bytes, outbound: outbound)
            parts.withLock { $0.hasProof = true }
            onProof()
            statistics.update { $0.bytesSent += sent }
            let reader = MessageReader(bytes, MessageDecoder(frames, ciphers.receive))
            await converse(reader, ciphers, outbound)
        } catch {
            await fail(handshakeFailure(error))
        }
    }

    /// Runs everything after the handshake. Whatever ends the conversation, the messages that wait are sent first.
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
            let (limit, isOver) = update { ($0.maximumMessage, $0.isOver) }
            if isOver { return }
            reader.limit = limit
            watchAnew()
            let message: Message?
            do {
                // A long message on a slow line is no silence.
                message = try await reader.next { self.watchAnew() }
            } catch {
                // What came before must not be lost, nor the reason why this side closed the connection.
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
            await handle { $0.received(message) }
            await stopIfDone()
        }
    }

    /// Waits until the machine can take a message. From then on this side has time to deal with it.
    private func makeReady(for message: Message) async {
        while true {
            let (readiness, isExchanging) = update { ($0.readiness(for: message), $0.isExchanging) }
            // While the own disk is slow, the peer is not the silent one.
            if isExchanging { watchdog.expect(within: deadlines.handling) }
            switch readiness {
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

    /// Waits until all batches that have come are settled.
    private func settle() async {
        for zone in parts.withLock({ $0.work?.zones }) ?? [] { await zone.arrived.drained() }
    }

    /// Ends a session that was to sync once, when both sides are in sync and have the files that they can give each
    /// other.
    func stopIfDone() async {
        guard update({ $0.awaitsFiles }), let files, await files.isDone() else { return }
        await handle { $0.filesSettled() }
    }
}
