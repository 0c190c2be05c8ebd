import Logging
import NIOCore
import RecordStore
import SyncModel
import SyncProtocol

/// Drives the exchange of assets with one peer: does for ``AssetReceiver`` and ``AssetSender`` what they ask for.
///
/// Nothing here keeps records waiting: what comes is written by a task of its own, and what goes out goes when nothing
/// else does.
actor AssetSession {
    /// How long it takes until it is looked again whether somebody else has finished a file.
    private static let busyInterval: Duration = .milliseconds(250)
    /// How long it takes until it is looked again whether there is room.
    private static let roomInterval: Duration = .seconds(2)
    /// The peer is told how much is left no more often than this.
    private static let tellInterval: Duration = .milliseconds(250)

    private let engine: SyncEngine
    private let store: RecordStore
    private let peer: Peer
    private let zones: [Zone]
    private let outbox: Outbox
    private let statistics: StatisticsCounter
    private var receiver = AssetReceiver()
    private var sender = AssetSender()

    private var incoming: [AssetHash: IncomingAsset] = [:]
    private var outgoing: [AssetHash: OutgoingAsset] = [:]
    /// What was wanted when it was looked last.
    private var known = RecordStore.WantedAssets()
    private var isFullLookDue = true
    private var told: (what: Message.AssetsWanted, when: ContinuousClock.Instant)?
    private var isPaused = false
    private var isRetryDue = false
    private var received = AssetProgress()
    private var sent = AssetProgress()
    /// Files that have come since this was last reported.
    private var unreported = AssetStatus.Count()

    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let requests: AsyncStream<Void>
    private let request: AsyncStream<Void>.Continuation
    /// Bounded by what the receiver asks for.
    private let arrivals: AsyncStream<Message.AssetChunk>
    private let arrival: AsyncStream<Message.AssetChunk>.Continuation

    init(
        _ engine: SyncEngine, with peer: Peer, zones: [Zone], outbox: Outbox,
        statistics: StatisticsCounter
    ) {
        self.engine = engine
        store = engine.store
        self.peer = peer
        self.zones = zones
        self.outbox = outbox
        self.statistics = statistics
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    /// Whether this peer has given what it has and this side wants, and wants nothing more itself.
    var isDone: Bool { receiver.isIdle && sender.isPeerIdle }

    /// Runs until cancelled.
    ///
    /// - Parameter onStep: called after each thing that was done.
    func run(onStep: @escaping @Sendable () async -> Void) async throws {
        wake.yield()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.serve() }
            group.addTask { try await self.write() }
            group.addTask { try await self.receive(onStep) }
            while try await group.next() != nil {}
        }
    }

    // MARK: Wanting

    /// Looks for files that have come to be wanted, and says so; so the peer knows before it is told of a digest.
    func refresh() async throws {
        let begin = isFullLookDue ? 0 : known.last
        isFullLookDue = false
        var wanted = try await store.wantedAssets(after: begin, in: zones)
        if wanted.policy != known.policy || wanted.wishes != known.wishes, begin > 0 {
            wanted = try await store.wantedAssets(after: 0, in: zones)
        }
        for asset in wanted.list { receiver.want(asset.hash, size: asset.size) }
        wanted.list = []
        known = wanted
        try await tellOwed()
        try tell()
        wake.yield()
    }

    /// Looks at all files again, because one may be gone.
    func lookAgain() {
        isFullLookDue = true
        wake.yield()
    }

    /// Tells the peer how much this side is going to ask for, when that has changed.
    private func tell() throws {
        let remaining = receiver.remaining
        if let told {
            guard remaining != told.what else { return }
            let isTurn = (remaining.files == 0) != (told.what.files == 0)
            guard isTurn || ContinuousClock.now - told.when > Self.tellInterval else { return }
        }
        told = (remaining, .now)
        try outbox.send(.assetsWanted(remaining))
        if remaining.files == 0 { reportReceived() }
    }

    // MARK: Receiving

    private func receive(_ onStep: @escaping @Sendable () async -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await _ in wakes {
                if isFullLookDue { try await refresh() }
                while let step = receiver.nextStep() {
                    switch step {
                    case .request(let request): try outbox.send(.assetRequest(request))
                    case .open(let hash, let size): await open(hash, size)
                    case .finish(let hash):
                        // Making it durable takes a while, in which other files go on.
                        group.addTask { await self.finish(hash) }
                    }
                }
                scheduleRetry(&group)
                try tell()
                await onStep()
            }
        }
    }

    private func scheduleRetry(_ group: inout ThrowingDiscardingTaskGroup<any Error>) {
        guard !isRetryDue, receiver.hasBusy || isPaused else { return }
        isRetryDue = true
        let interval = isPaused ? Self.roomInterval : Self.busyInterval
        group.addTask {
            guard (try? await Task.sleep(for: interval)) != nil else { return }
            await self.retry()
        }
    }

    private func retry() {
        isRetryDue = false
        receiver.retryBusy()
        if isPaused {
            // The next file that is opened tells whether there is room now.
            isPaused = false
            receiver.resume()
        }
        wake.yield()
    }

    private func open(_ hash: AssetHash, _ size: Int64) async {
        guard let assets = store.assets else { return receiver.isPresent(hash) }
        do {
            let isHere = try await blocking { assets.contains(hash, size: size) }
            guard !isHere else { return receiver.isPresent(hash) }
            guard let file = try await blocking({ try assets.receive(hash, size: size) }) else {
                return receiver.isBusy(hash)
            }
            // Meanwhile it may have been found that there is no room.
            guard receiver.opened(hash, at: file.count) else { return }
            incoming[hash] = file
            hasRoom = true
        } catch {
            receiver.notFinished(hash)
            pause(because: error)
        }
    }

    /// Whether the last file that was opened found room.
    private var hasRoom = true

    private func pause(because error: any Error) {
        for hash in receiver.pause() { incoming[hash] = nil }
        isPaused = true
        guard hasRoom else { return }
        hasRoom = false
        engine.onEvent(.assetsPaused(name: peer.name, reason: "\(error)"))
    }

    /// Bytes have come. Returns at once: they are written by ``write()``.
    func received(_ chunk: Message.AssetChunk) throws {
        switch try receiver.received(chunk) {
        case .drop: break
        case .write: arrival.yield(chunk)
        }
    }

    private func write() async throws {
        for await chunk in arrivals {
            let count = chunk.bytes.readableBytes
            guard let file = incoming[chunk.hash], file.count == Int64(chunk.offset) else { continue }
            do {
                try await blocking {
                    try chunk.bytes.withUnsafeReadableBytes { try file.append($0) }
                }
            } catch {
                pause(because: error)
                continue
            }
            receiver.wrote(chunk.hash, count: count)
            statistics.update { $0.assetBytesReceived += Int64(count) }
            received.add(count, left: receiver.remaining)
            report()
            wake.yield()
        }
    }

    private func finish(_ hash: AssetHash) async {
        guard let file = incoming.removeValue(forKey: hash) else { return receiver.notFinished(hash) }
        do {
            let size = file.count
            let isIntact = try await blocking { try file.finish() }
            if isIntact {
                try await noteArrived(hash, size: size)
            } else {
                engine.logger.warning("\(peer.name) sent other bytes than those of \(hash)")
            }
            receiver.finished(hash, isIntact: isIntact)
        } catch {
            receiver.notFinished(hash)
            pause(because: error)
        }
        wake.yield()
    }

    private func noteArrived(_ hash: AssetHash, size: Int64) async throws {
        statistics.update { $0.assetsReceived += 1 }
        unreported.files += 1
        unreported.bytes += size
        if known.wishes.contains(hash) { try await store.setWished([hash], false) }
        await engine.assets.arrived(hash)
    }

    /// The peer does not have a file.
    func isMissing(_ hash: AssetHash) throws {
        if try receiver.isMissing(hash) { incoming[hash] = nil }
        wake.yield()
    }

    /// The peer has come to have files.
    func areAvailable(_ hashes: [AssetHash]) {
        receiver.areAvailable(hashes)
        wake.yield()
    }

    // MARK: Sending

    /// The peer asks for a piece of a file.
    func received(_ piece: Message.AssetRequest) throws {
        try sender.received(piece)
        request.yield()
    }

    func received(_ wanted: Message.AssetsWanted) {
        sender.received(wanted)
        sent.left = wanted
        wake.yield()
    }

    private func serve() async throws {
        for await _ in requests {
            while let piece = sender.nextPiece {
                guard let file = try await file(piece.hash) else {
                    outgoing[piece.hash] = nil
                    try outbox.send(.assetMissing(piece.hash))
                    continue
                }
                let bytes = try? await blocking { try file.read(at: Int64(piece.offset), upTo: piece.count) }
                guard let bytes, bytes.count == piece.count else {
                    sender.isMissing(piece.hash, isOwed: true)
                    continue
                }
                sender.sent(piece.count)
                await outbox.sendWhenIdle(
                    .assetChunk(
                        Message.AssetChunk(
                            hash: piece.hash, offset: piece.offset, bytes: ByteBuffer(bytes: bytes))))
                statistics.update { $0.assetBytesSent += Int64(piece.count) }
                sent.add(piece.count, left: sent.left)
                report()
            }
        }
    }

    /// The file that the peer asks for, if it is here and the peer may have it.
    private func file(_ hash: AssetHash) async throws -> OutgoingAsset? {
        if let file = outgoing[hash] { return file }
        guard let assets = store.assets, try await store.isAssetReferred(hash, in: zones) else {
            sender.isMissing(hash, isOwed: false)
            return nil
        }
        switch try await engine.assets.open(hash, in: assets) {
        case .file(let file):
            // Those that the peer has all of need not stay open.
            if outgoing.count >= 2 * ProtocolLimits.openAssets { outgoing.removeAll() }
            outgoing[hash] = file
            return file
        case .missing:
            sender.isMissing(hash, isOwed: true)
        case .damaged:
            sender.isMissing(hash, isOwed: true)
            engine.onEvent(.assetDamaged(hash))
            await engine.assets.lost()
        }
        return nil
    }

    /// A file has come from somewhere.
    func arrived(_ hash: AssetHash) {
        let owed = sender.arrived([hash])
        if !owed.isEmpty { try? outbox.send(.assetsAvailable(owed)) }
        wake.yield()
    }

    /// Tells the peer of files that it has asked for in vain, and that somebody has put here since.
    private func tellOwed() async throws {
        guard let assets = store.assets, !sender.owed.isEmpty else { return }
        let owed = sender.owed.prefix(ProtocolLimits.maximumAssetsAvailable)
        let here = try await blocking { owed.filter { assets.isHere($0) } }
        let arrived = sender.arrived(Array(here))
        if !arrived.isEmpty { try outbox.send(.assetsAvailable(arrived)) }
    }

    // MARK: Reporting

    private func report() {
        engine.onEvent(.assetProgress(name: peer.name, receiving: received, sending: sent))
    }

    private func reportReceived() {
        guard unreported.files > 0 else { return }
        engine.onEvent(
            .assetsReceived(name: peer.name, unreported, unavailable: receiver.unavailableCount))
        unreported = AssetStatus.Count()
    }
}
