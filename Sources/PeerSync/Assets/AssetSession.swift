import Logging
import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// The driver of the exchange of assets with one peer: performs the steps of ``AssetReceiver`` and ``AssetSender``.
///
/// Files never delay records: a task of their own writes the bytes that come, and the outbox sends pieces only when it
/// has nothing else.
actor AssetSession {
    /// What this session tries again after a pause.
    private enum Retry {
        /// To open files that other sessions or programs are receiving.
        case busy
        /// To find room on the disk.
        case room

        var pause: Duration { self == .busy ? .milliseconds(250) : .seconds(2) }
    }

    /// The shortest time between two messages that tell the peer how much is left.
    static let tellInterval: Duration = .milliseconds(250)

    let engine: SyncEngine
    let store: RecordStore
    let peer: Peer
    let zones: [Zone]
    let outbox: Outbox
    private let statistics: StatisticsCounter
    /// How long this session waits for a peer that does not answer, because other peers may have the files. A caller
    /// that came to sync once also waits this long for a peer that wants files and does not ask for them.
    private let patience: Duration
    var receiver = AssetReceiver()
    var sender = AssetSender()
    var wait = FileWait()
    private var hasGivenPeerUp = false

    private var incoming: [AssetHash: IncomingAsset] = [:]
    var outgoing: [AssetHash: OutgoingAsset] = [:]
    /// The wanted files as the last refresh found them.
    var known = WantedAssets()
    var isFullLookDue = true
    /// How many refreshes have begun.
    var looks = 0
    var told: (what: Message.AssetsWanted, when: ContinuousClock.Instant)?
    private var retriesDue: Set<Retry> = []
    /// Files that found no room and have not come since.
    var withoutRoom: Set<AssetHash> = []
    /// Whether files or records have come since the last search for a file began.
    var hasMoreCome = false
    /// Since when the peer has owed an answer without sending any.
    private var lastAnswer = ContinuousClock.now
    private var received = AssetProgress()
    var sent = AssetProgress()
    /// Files that have come since the last report.
    private var unreported = AssetStatus.Count()

    /// Raised when there may be something to do (`wake`), to serve (`request`) or to write (`arrival`).
    let wake = Signal()
    let request = Signal()
    private let arrival = Signal()
    private var arrived = ArrivedPieces()

    init(
        _ engine: SyncEngine, with peer: Peer, zones: [Zone], outbox: Outbox,
        statistics: StatisticsCounter
    ) {
        self.engine = engine
        patience = engine.deadlines.files
        store = engine.store
        self.peer = peer
        self.zones = zones
        self.outbox = outbox
        self.statistics = statistics
    }

    /// Answers a caller that came to sync once, when the records are in sync.
    ///
    /// - Returns: whether both sides have the files that they want and can get, or the peer makes no progress with its
    ///   own.
    func isDone() -> Bool {
        guard receiver.isIdle, sender.isPeerIdle || hasGivenPeerUp else {
            wait.start()
            return false
        }
        return true
    }

    /// Runs until cancelled.
    ///
    /// - Parameter onStep: called after each round of steps.
    func run(onStep: @escaping @Sendable () async -> Void) async throws {
        wake.raise()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.serve() }
            group.addTask { try await self.write() }
            group.addTask { try await self.receive(onStep) }
            group.addTask { await self.watchPeer(onStep) }
            group.addTask {
                while (try? await Task.sleep(for: self.engine.deadlines.fileLooks)) != nil {
                    await self.lookAgain()
                }
            }
            while try await group.next() != nil {}
        }
    }

    /// Takes a message about files.
    func received(_ message: Message) throws {
        switch message {
        case .assetRequest(let request): try received(request)
        case .assetChunk(let chunk): try received(chunk)
        case .assetMissing(let hash): try isMissing(hash)
        case .assetsAvailable(let hashes): areAvailable(hashes)
        case .assetsWanted(let wanted): received(wanted)
        case .hello, .pairingShare, .pairingTag, .open, .begin, .batch, .acknowledge, .refuse, .digest,
            .resync, .reconcile, .household, .householdSet, .ping, .pong, .error, .goodbye, .unknown:
            break
        }
    }

    // MARK: Receiving

    private func receive(_ onStep: @escaping @Sendable () async -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await _ in wake {
                if isFullLookDue { try await refresh() }
                while let step = nextStep() {
                    switch step {
                    case .request(let request): try outbox.send(.assetRequest(request))
                    case .open(let hash, let size): await open(hash, size)
                    case .finish(let hash):
                        // Making the file durable takes a while. Other files go on meanwhile.
                        group.addTask { await self.finish(hash) }
                    }
                }
                if receiver.hasBusy { schedule(.busy, in: &group) }
                if receiver.isPaused || receiver.hasTooLarge { schedule(.room, in: &group) }
                try tell()
                await onStep()
            }
        }
    }

    private func nextStep() -> AssetReceiver.Step? {
        if !receiver.isAwaitingAnswers { lastAnswer = .now }
        return receiver.nextStep()
    }

    private func schedule(_ retry: Retry, in group: inout ThrowingDiscardingTaskGroup<any Error>) {
        guard retriesDue.insert(retry).inserted else { return }
        group.addTask {
            guard (try? await Task.sleep(for: retry.pause)) != nil else { return }
            await self.again(retry)
        }
    }

    private func again(_ retry: Retry) {
        retriesDue.remove(retry)
        switch retry {
        case .busy: receiver.retryBusy()
        case .room:
            receiver.retryTooLarge()
            // The next file to be opened shows whether there is room now.
            receiver.resume()
        }
        wake.raise()
    }

    /// Watches the peer until cancelled. Without this, a peer whose disk has failed would keep files open here that
    /// another peer could give.
    private func watchPeer(_ onStep: @Sendable () async -> Void) async {
        while (try? await Task.sleep(for: patience / 4)) != nil {
            if receiver.isAwaitingAnswers, ContinuousClock.now - lastAnswer > patience, !receiver.isIdle {
                engine.logger.warning("\(peer.name) has not sent any of the files that it was asked for")
                for hash in receiver.stall() { incoming[hash] = nil }
                wake.raise()
            }
            // While this side owes the peer a piece, the peer cannot go on.
            if !hasGivenPeerUp, wait.isOver(after: patience), !sender.isPeerIdle, sender.nextPiece == nil {
                hasGivenPeerUp = true
                engine.onEvent(.assetsUnsettled(name: engine.names.of(peer)))
                await onStep()
            }
        }
    }

    private func open(_ hash: AssetHash, _ size: Int64) async {
        guard let assets = store.assetDirectory else { return isPresent(hash) }
        do {
            let isHere = try await blocking { assets.contains(hash, size: size) }
            guard !isHere else { return isPresent(hash) }
            guard let file = try await blocking({ try assets.receive(hash, size: size) }) else {
                return receiver.isBusy(hash)
            }
            // The transfers may have been paused for lack of room meanwhile.
            guard receiver.opened(hash, at: file.count) else { return }
            incoming[hash] = file
        } catch {
            let isTooLarge = (error as? RecordStoreError)?.code == .noSpace
            // A file that does not fit must not keep smaller files waiting.
            if isTooLarge, (try? await blocking { assets.hasRoom }) == true {
                receiver.hasNoRoom(hash)
                tellOfRoom(hash, error)
            } else {
                receiver.notFinished(hash)
                pause(hash, because: error)
            }
        }
    }

    private func isPresent(_ hash: AssetHash) {
        withoutRoom.remove(hash)
        receiver.isPresent(hash)
    }

    private func pause(_ hash: AssetHash, because error: any Error) {
        for hash in receiver.pause() { incoming[hash] = nil }
        tellOfRoom(hash, error)
        // The loop in ``receive(_:)`` then calls `onStep`, and schedules another attempt.
        wake.raise()
    }

    /// Tells the app that files find no room: one event for all of them.
    private func tellOfRoom(_ hash: AssetHash, _ error: any Error) {
        let isFirst = withoutRoom.isEmpty
        guard withoutRoom.insert(hash).inserted, isFirst else { return }
        let reason = PeerSyncError(store: error)
        if reason.message != "\(error)" {
            engine.logger.warning("files of \(peer.name) cannot be written: \(error)")
        }
        engine.onEvent(.assetsPaused(name: engine.names.of(peer), reason))
    }

    /// Takes bytes of a file and returns at once; ``write()`` writes them.
    func received(_ chunk: Message.AssetChunk) throws {
        lastAnswer = .now
        wait.step()
        switch try receiver.received(chunk) {
        // This may be the last chunk of a transfer that was given up. Only now may the receiver ask for the file
        // again.
        case .drop: wake.raise()
        case .write:
            arrived.add(chunk, to: incoming[chunk.hash])
            arrival.raise()
        }
    }

    private func write() async throws {
        for await _ in arrival {
            while let (hash, piece) = arrived.take() { await write(piece, of: hash) }
        }
    }

    private func write(_ piece: ArrivedPieces.Piece, of hash: AssetHash) async {
        guard let file = piece.file, file === incoming[hash], file.count == Int64(piece.offset) else {
            return
        }
        do {
            try await blocking { try piece.bytes.withUnsafeReadableBytes { try file.append($0) } }
        } catch {
            return pause(hash, because: error)
        }
        let count = piece.bytes.readableBytes
        receiver.wrote(hash, count: count)
        statistics.update { $0.assetBytesReceived += Int64(count) }
        received.add(count, left: receiver.remaining)
        report()
        wake.raise()
    }

    private func finish(_ hash: AssetHash) async {
        guard let file = incoming.removeValue(forKey: hash) else { return receiver.notFinished(hash) }
        do {
            let size = file.count
            let isIntact = try await blocking { try file.finish() }
            if isIntact { try await noteArrived(hash, size: size) }
            if receiver.finished(hash, isIntact: isIntact) {
                engine.logger.warning("\(peer.name) sent other bytes than those of \(hash)")
            }
        } catch {
            receiver.notFinished(hash)
            pause(hash, because: error)
        }
        wake.raise()
    }

    private func noteArrived(_ hash: AssetHash, size: Int64) async throws {
        withoutRoom.remove(hash)
        statistics.update { $0.assetsReceived += 1 }
        unreported.files += 1
        unreported.bytes += size
        if known.wishes.contains(hash) { try await store.assets.setWished([hash], false) }
        await engine.assets.arrived(hash)
    }

    /// Notes that the peer does not have a file.
    func isMissing(_ hash: AssetHash) throws {
        lastAnswer = .now
        wait.step()
        if try receiver.isMissing(hash) { incoming[hash] = nil }
        wake.raise()
    }

    /// Notes that the peer now has files that it did not have before.
    func areAvailable(_ hashes: [AssetHash]) {
        receiver.areAvailable(hashes)
        wake.raise()
    }

    // MARK: Reporting

    func report() {
        engine.onEvent(.assetProgress(name: engine.names.of(peer), receiving: received, sending: sent))
    }

    func reportReceived() {
        guard unreported.files > 0 else { return }
        engine.onEvent(
            .assetsReceived(name: engine.names.of(peer), unreported, unavailable: receiver.unavailableCount))
        unreported = AssetStatus.Count()
    }
}
