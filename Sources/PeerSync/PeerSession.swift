import GRDB
import Logging
import NIOCore
import RecordStore
import SecureChannel
import SyncModel
import SyncProtocol
import Synchronization

/// Permission to do something once, however many connections it takes.
final class OneTime: Sendable {
    private let permission = Mutex(true)

    var isLeft: Bool { permission.withLock { $0 } }

    func wasDone() { permission.withLock { $0 = false } }
}

/// What the user wants to become of two scorebooks, until it has been done: a connection that is made again must not
/// replace a scorebook a second time.
final class WantedUnion: Sendable {
    private let union: Mutex<ZoneUnion?>

    init(_ union: ZoneUnion?) { self.union = Mutex(union) }

    var current: ZoneUnion? { union.withLock { $0 } }

    func wasDone() { union.withLock { $0 = nil } }
}

/// One connection with one machine, from the handshake to the goodbye.
final class PeerSession: Sendable {
    /// So many batches that have come wait to be applied, over all zones.
    private static let decodedBatches = 2

    /// What a session was made for.
    enum Purpose: Sendable {
        /// Somebody connected to us.
        case answer
        /// We connected.
        case call(Call)

        var role: NoiseHandshake.Role { call == nil ? .responder : .initiator }

        var call: Call? {
            if case .call(let call) = self { call } else { nil }
        }
    }

    /// What the side that connects wants.
    struct Call: Sendable {
        var pairing = CallPairing.no
        /// To end when both sides hold the same.
        var isOnce = false
        /// To look at everything that both sides hold.
        var comparesEverything = false
        /// Permission to start over.
        var startOver: OneTime?
        /// What becomes of the two scorebooks, if the user has said so.
        var union: WantedUnion?
    }

    /// What a caller does about pairing.
    enum CallPairing: Sendable {
        case no
        /// Pairs when this side does not know the other.
        case ifUnknown(PairingCode)
        /// Pairs also with a machine that this side knows: it has forgotten us.
        case again(PairingCode)

        func code(isKnown: Bool) -> PairingCode? {
            switch self {
            case .no: nil
            case .ifUnknown(let code): isKnown ? nil : code
            case .again(let code): code
            }
        }
    }

    /// Why a session ends before the other side ends it.
    enum Ending: Sendable {
        /// It was told to, or has done what it was made for. What breaks from now on is nobody's fault.
        case asked
        /// A task of it other than the reading one has failed.
        case failed(any Error)
    }

    let engine: SyncEngine
    let purpose: Purpose
    let address: String
    let deadlines: Deadlines
    let outbox = Outbox()
    private let statistics: StatisticsCounter
    private let ending = Mutex<Ending?>(nil)
    private let wasInSync = Mutex(false)
    /// The other side has said hello.
    private let hasBegun = Mutex(false)
    let granted = Mutex<(peer: Peer, Granted)?>(nil)
    let watchdog: Watchdog
    let connection: ByteChannel
    /// Called once, when the other side has proved to be paired.
    private let onAuthenticated: @Sendable () -> Void

    init(
        _ engine: SyncEngine, _ connection: ByteChannel, purpose: Purpose, address: String,
        deadlines: Deadlines = Deadlines(),
        onAuthenticated: @escaping @Sendable () -> Void = {}
    ) {
        self.engine = engine
        self.connection = connection
        self.purpose = purpose
        self.address = address
        self.deadlines = deadlines
        self.onAuthenticated = onAuthenticated
        statistics = StatisticsCounter(engine.metrics)
        watchdog = Watchdog(connection.channel, within: deadlines.handshake, writing: deadlines.writing)
    }

    var isEnding: Bool { ending.withLock { $0 != nil } }

    /// Says goodbye and ends, without waiting for it.
    func stop() {
        let isFirst = ending.withLock { ending in
            guard ending == nil else { return false }
            ending = .asked
            return true
        }
        guard isFirst else { return }
        // A peer that does not read finds no goodbye where it has left no room for one.
        try? outbox.send(.goodbye)
        leave()
    }

    /// What waits to be sent still leaves, if that does not take long.
    private func leave() {
        outbox.finish()
        watchdog.leave(within: deadlines.farewell)
    }

    /// Runs the session to its end.
    ///
    /// - Returns: what came of it, when both sides were found equal at least once.
    /// - Throws: ``PeerSyncError``.
    func run() async throws -> SyncReport? {
        do {
            let report = try await connection.executeThenClose { inbound, outbound in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await self.watchdog.run() }
                    defer { group.cancelAll() }
                    return try await self.handshake(inbound, outbound)
                }
            }
            noteEnd(nil)
            return report
        } catch {
            let error = await engine.mended(error)
            let end = wasAsked ? nil : understood(error)
            noteEnd(end)
            if wasAsked { return nil }
            guard var end else { throw error }
            end.cameAfterSync = wasInSync.withLock { $0 }
            throw end
        }
    }

    private var wasAsked: Bool {
        ending.withLock { if case .asked = $0 { true } else { false } }
    }

    private func noteEnd(_ error: PeerSyncError?) {
        if hasBegun.withLock({ $0 }) { engine.metrics.sessionEnded(error) }
    }

    /// What an error means to the user here; nil when the task was cancelled.
    private func understood(_ error: any Error) -> PeerSyncError? {
        switch error {
        case is CancellationError: nil
        case let error as PeerSyncError: error
        case let error as ProtocolError: PeerSyncError(error)
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

    private var timeout: PeerSyncError {
        switch watchdog.cause {
        case .blockage: PeerSyncError(.timeout, "\(address) has not read what it was sent for a long time")
        case .silence, nil: PeerSyncError(.timeout, "\(address) did not answer in time")
        }
    }

    private var noPeer: PeerSyncError {
        let advice = purpose.call == nil ? "" : "; check the address and the port"
        return PeerSyncError(.noPeer, "\(address) does not speak this protocol\(advice)")
    }

    private func handshake(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> SyncReport? {
        var reader = InboundBytes(inbound)
        let ciphers: TransportCiphers
        let frames: FrameDecoder
        do {
            (ciphers, frames) = try await Handshake.run(
                purpose.role, identity: engine.identity, reader: &reader, outbound: outbound)
        } catch is SecureChannelError {
            throw noPeer
        } catch is HandshakeCut {
            throw watchdog.hasFired
                ? timeout
                : PeerSyncError(
                    .interrupted,
                    "\(address) closed the connection during the handshake: it is busy, or no scorebook-peer")
        } catch let error as ProtocolError {
            throw error.code == .malformed ? noPeer : error
        }
        // The handshake's own frames: three, of fixed sizes but for what version the payload names.
        statistics.update { $0.bytesSent += purpose.role == .initiator ? 108 : 98 }
        watchdog.expect(within: deadlines.greeting)
        let messages = MessageReader(reader, MessageDecoder(frames, ciphers.receive))
        return try await converse(messages, ciphers, outbound)
    }

    /// Everything after the handshake. Whatever ends the conversation, what waits to be sent is sent first.
    private func converse(
        _ messages: consuming MessageReader, _ ciphers: TransportCiphers,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> SyncReport? {
        var reader = messages
        return try await withThrowingTaskGroup(of: Void.self) { group in
            let writer = MessageEncoder(ciphers.send)
            group.addTask {
                await self.outbox.drain(
                    into: outbound, writer: writer, counting: self.statistics, watchdog: self.watchdog)
            }
            let result: Result<SyncReport?, any Error>
            do {
                result = .success(try await greetAndExchange(&reader, ciphers))
            } catch {
                result = .failure(error)
                if let told = ProtocolError(toldToPeer: error), !isEnding { try? outbox.send(.error(told)) }
            }
            leave()
            try await group.waitForAll()
            return try result.get()
        }
    }

    // MARK: Greeting

    private func greetAndExchange(_ reader: inout MessageReader, _ ciphers: TransportCiphers) async throws
        -> SyncReport?
    {
        guard ciphers.remoteStatic != engine.identity.publicKey else {
            throw ProtocolError(
                .sameIdentity,
                "both sides have the same identity key: one store is a copy of the other, or they are one; run "
                    + "`scorebook-peer identity renew` on the copy to make it a replica of its own")
        }
        var first = purpose.role == .responder ? try await nextMessage(&reader) : nil
        var peer = try await engine.store.peer(key: ciphers.remoteStatic.bytes)
        var didPair = false
        let pairing = PairingConversation(engine: engine, address: address, ciphers: ciphers)
        if let code = purpose.call?.pairing.code(isKnown: peer != nil) {
            peer = try await pairing.call(code, outbox) { try await self.nextMessage(&reader) }
            didPair = true
        } else if case .pairingShare(let share)? = first {
            peer = try await pairing.answer(share, outbox) { try await self.nextMessage(&reader) }
            didPair = true
            first = try await nextMessage(&reader)
        }
        guard let peer else {
            throw ProtocolError(
                .notPaired,
                "the two machines are not paired: run `scorebook-peer listen --pair` on one and "
                    + "`scorebook-peer connect HOST --code NNN-NNN`, with the code it shows, on the other")
        }
        onAuthenticated()
        if didPair { engine.onEvent(.paired(name: peer.name)) }
        // A connection that has just been closed takes no options; what the other side said before is still read.
        try? await connection.channel.setOption(.recvAllocator, value: SocketOptions.peersBuffer).get()
        reader.limit = ProtocolLimits.maximumMessage
        return try await greet(peer, first, &reader, didPair: didPair)
    }

    private func greet(_ peer: Peer, _ first: Message?, _ reader: inout MessageReader, didPair: Bool)
        async throws
        -> SyncReport?
    {
        let startsOver = purpose.call?.startOver?.isLeft ?? false
        let offers = try await engine.offers(to: peer)
        try outbox.send(.hello(hello(offers)))
        let answer: Message = if let first { first } else { try await nextMessage(&reader) }
        guard case .hello(let hello) = answer else {
            throw ProtocolError(.unexpectedMessage, "the other side did not say hello")
        }
        let connection = try engine.connections.enter(
            self, peer: peer.id, instance: hello.instance, isPreferred: isPreferred(over: peer.publicKey))
        do {
            let report = try await sync(
                with: peer, offers, hello, startsOver: startsOver, &reader, didPair: didPair)
            await noteEnd(of: connection, peer, nil)
            return report
        } catch {
            let error = await engine.mended(error)
            let end = wasAsked ? nil : understood(error)
            if let end, end.message != "\(error)" {
                engine.logger.warning("the session with \(peer.name) ended: \(error)")
            }
            await noteEnd(of: connection, peer, end)
            throw error
        }
    }

    /// Takes note of the end of a session, also in a task that was cancelled.
    private func noteEnd(
        of connection: Connections.Entry, _ peer: Peer, _ error: PeerSyncError?
    ) async {
        let engine = engine
        engine.connections.leave(connection)
        await Task {
            do {
                try await engine.noteConnected(with: peer, error: error?.message)
            } catch {
                // The user hears of the end, if not of this: what keeps the store from being written mostly ended it.
                engine.logger.warning("cannot note that the session with \(peer.name) has ended: \(error)")
            }
        }.value
        engine.onEvent(.disconnected(name: peer.name, reason: error?.message))
    }

    private func sync(
        with peer: Peer, _ offers: [ZoneOffer], _ hello: Message.Hello, startsOver: Bool,
        _ reader: inout MessageReader, didPair: Bool
    ) async throws -> SyncReport? {
        // Before anything may fail: whoever hears of an end has heard of a beginning.
        engine.onEvent(.connected(name: peer.name, address: address))
        if purpose.call != nil { try await engine.store.noteAddress(address, of: peer) }
        let common = try await agree(with: peer, offers, hello, startsOver: startsOver, &reader)
        let assets = AssetSession(
            engine, with: peer, zones: common.map(\.zone), outbox: outbox, statistics: statistics,
            patience: deadlines.files)
        let room = Turns(Self.decodedBatches)
        let zones = common.enumerated().map { number, entry in
            ZoneSession(
                engine, engine.ledger(entry.zone, peer), number: number, isCaller: purpose.role == .initiator,
                comparesEverything: purpose.call?.comparesEverything ?? false, assets: assets,
                outbox: outbox, room: room, statistics: statistics)
        }
        // What is said of the session is said of the default zone, where it is part of it.
        let main = zones[common.firstIndex { $0.zone.isDefault } ?? 0]
        engine.metrics.sessionBegan()
        hasBegun.withLock { $0 = true }
        try await engine.noteConnected(with: peer)
        do {
            for (entry, zone) in zip(common, zones) {
                try await zone.begin(heldByPeer: entry.heldByPeer, mayWrite: entry.rights == .write)
            }
            try await engine.assets.run(assets) {
                try await engine.settings.run(self) { try await exchange(zones, assets, &reader) }
            }
        } catch {
            if await main.agreedDigest != nil { wasInSync.withLock { $0 = true } }
            throw error
        }
        guard let digest = await main.agreedDigest else { return nil }
        return SyncReport(
            peer: peer.name, statistics: statistics.current, digest: digest, didPair: didPair,
            differences: await Self.differences(zones), mended: await Self.mended(zones))
    }

    private static func differences(_ zones: [ZoneSession]) async -> SyncDifferences? {
        var all: SyncDifferences?
        for zone in zones {
            guard let found = await zone.differences else { continue }
            all = all ?? SyncDifferences()
            all?.sent += found.sent
            all?.received += found.received
        }
        return all
    }

    /// Whichever zone looked first has looked at the whole store.
    private static func mended(_ zones: [ZoneSession]) async -> StoreCheck? {
        for zone in zones {
            if let mended = await zone.mended { return mended }
        }
        return nil
    }

    /// Whether this is the connection that stays when the other side has connected to us as well: the one that the side
    /// with the smaller key has made.
    private func isPreferred(over key: [UInt8]) -> Bool {
        let isOwnKeySmaller = engine.identity.publicKey.bytes.lexicographicallyPrecedes(key)
        return isOwnKeySmaller == (purpose.role == .initiator)
    }

    private func hello(_ offers: [ZoneOffer]) -> Message.Hello {
        Message.Hello(
            minorVersion: ProtocolLimits.minorVersion, replica: engine.store.replica,
            instance: engine.instance, displayName: engine.displayName, clock: engine.store.now(),
            zones: offers)
    }

    // MARK: Exchanging

    private func exchange(
        _ zones: [ZoneSession], _ assets: AssetSession, _ reader: inout MessageReader
    ) async throws {
        // What was decided since the zones were agreed has told nobody.
        await settingsChanged()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            for zone in zones {
                group.addTask {
                    await self.endingIfFailed { try await zone.pump { await self.stopIfDone(zones, assets) } }
                }
                group.addTask {
                    await self.endingIfFailed {
                        try await zone.applyArrived { await self.stopIfDone(zones, assets) }
                    }
                    // Not before the failure was noted: who waits for the zone looks for it then.
                    zone.close()
                }
            }
            group.addTask {
                await self.endingIfFailed { try await assets.run { await self.stopIfDone(zones, assets) } }
            }
            let observation = engine.watch.observe {
                for zone in zones { zone.storeChanged() }
            }
            defer { withExtendedLifetime(observation) {} }
            group.addTask {
                while (try? await Task.sleep(for: self.deadlines.ping)) != nil {
                    // A peer that leaves no room for it does not read, and is let go for that.
                    try? self.outbox.send(.ping([UInt8](repeating: 0, count: MessageCodec.pingLength)))
                }
            }
            try await read(zones, assets, &reader)
        }
        if let error = failure { throw error }
    }

    /// What a task other than the reading one found.
    private var failure: (any Error)? {
        ending.withLock { if case .failed(let error) = $0 { error } else { nil } }
    }

    /// Runs a task of the session other than the reading one.
    func endingIfFailed(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
            return
        } catch {
            end(because: error)
        }
    }

    /// Ends the session because of an error found outside the reading task; that task then sees the connection end.
    private func end(because error: any Error) {
        ending.withLock { $0 = $0 ?? .failed(error) }
        if let told = ProtocolError(toldToPeer: error) { try? outbox.send(.error(told)) }
        leave()
    }

    private func read(
        _ zones: [ZoneSession], _ assets: AssetSession, _ reader: inout MessageReader
    ) async throws {
        while true {
            watchdog.expect(within: deadlines.silence)
            let message: Message?
            do {
                // A long message on a slow line is no silence.
                message = try await reader.next { self.watchdog.expect(within: self.deadlines.silence) }
            } catch {
                // What has come before is not lost, nor why this side has closed the connection.
                await settle(zones)
                if isEnding { return }
                throw error
            }
            guard let message else {
                await settle(zones)
                if isEnding { return }
                throw watchdog.hasFired
                    ? timeout : PeerSyncError(.interrupted, "the connection to \(address) was cut")
            }
            statistics.update { $0.bytesReceived = reader.byteCount }
            if case .goodbye = message {
                await settle(zones)
                stop()
                return
            }
            watchdog.expect(within: deadlines.handling)
            do {
                try await handle(message, zones, assets)
            } catch _ where wasAsked {
                return
            }
            await stopIfDone(zones, assets)
        }
    }

    /// Waits until all that has come is dealt with.
    private func settle(_ zones: [ZoneSession]) async {
        for zone in zones { await zone.settled() }
    }

    /// Ends a session that was asked for once, when both sides know that they hold the same, and have what files they can
    /// give each other.
    private func stopIfDone(_ zones: [ZoneSession], _ assets: AssetSession) async {
        guard purpose.call?.isOnce == true else { return }
        for zone in zones {
            guard await zone.isConfirmed else { return }
        }
        guard await assets.isDone() else { return }
        stop()
    }

    private func handle(_ message: Message, _ zones: [ZoneSession], _ assets: AssetSession) async throws {
        func zone(_ number: Int) throws(ProtocolError) -> ZoneSession {
            guard zones.indices.contains(number) else {
                throw ProtocolError(
                    .malformed, "the other side named a zone that is not part of this session")
            }
            return zones[number]
        }
        if case .batch(let number, let batch) = message { return try await zone(number).received(batch) }
        if let number = message.zone { try await zone(number).settled() }
        switch message {
        case .begin(let begin): try await zone(begin.zone).received(begin)
        case .refuse(let refuse): try await zone(refuse.zone).received(refuse)
        case .acknowledge(let number, let token): try await zone(number).receivedAcknowledgement(token)
        case .digest(let number, let summary): try await zone(number).received(summary)
        case .reconcile(let step): try await zone(step.zone).received(step)
        case .resync(let number, let round): try await zone(number).receivedResync(round: round)
        case .assetRequest(let request): try await assets.received(request)
        case .assetChunk(let chunk): try await assets.received(chunk)
        case .assetMissing(let hash): try await assets.isMissing(hash)
        case .assetsAvailable(let hashes): await assets.areAvailable(hashes)
        case .assetsWanted(let wanted): await assets.received(wanted)
        case .ping(let bytes):
            // An answer says that all went well that came before.
            await settle(zones)
            if !isEnding { try outbox.send(.pong(bytes)) }
        case .error(let error):
            await settle(zones)
            throw PeerSyncError(error)
        case .batch, .pong, .unknown, .goodbye: break
        case .hello, .open, .pairingShare, .pairingTag:
            throw ProtocolError(.unexpectedMessage, "the other side greeted twice")
        }
    }

    /// The next message while nothing else goes on.
    func nextMessage(_ reader: inout MessageReader) async throws -> Message {
        while true {
            guard let message = try await reader.next() else {
                throw watchdog.hasFired
                    ? timeout : PeerSyncError(.interrupted, "\(address) closed the connection")
            }
            statistics.update { $0.bytesReceived = reader.byteCount }
            switch message {
            case .error(let error): throw PeerSyncError(error)
            case .goodbye: throw PeerSyncError(.interrupted, "\(address) ended the connection")
            case .unknown: continue
            default: return message
            }
        }
    }
}
