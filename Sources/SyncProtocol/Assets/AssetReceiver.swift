import SyncModel

/// The receiving half of the exchange of assets with one peer: a state machine without I/O.
///
/// Whoever drives it says what is wanted, asks for the ``nextStep()`` until there is none, and hands in what came of it.
/// It asks for files piece by piece, so that ``ProtocolLimits/assetWindow`` bounds what is on its way whatever the peer
/// does, and a connection is never full of files when a record is to go through it.
///
/// Each file that is wanted has one ``WantedAsset/State``. ``PeerAnswers`` counts what the peer still has to answer, also
/// for files that were given up.
package struct AssetReceiver: Sendable {
    /// Something to do.
    package enum Step: Sendable, Equatable {
        /// Open what is there of a file; answer with ``opened(_:at:)``, ``isBusy(_:)``, ``hasNoRoom(_:)``,
        /// ``notFinished(_:)`` or ``isPresent(_:)``.
        case open(AssetHash, size: Int64)
        /// Ask the peer for a piece of a file.
        case request(Message.AssetRequest)
        /// The last byte is written. Hold the file against its hash and give it its name; answer with
        /// ``finished(_:isIntact:)`` or ``notFinished(_:)``.
        case finish(AssetHash)
    }

    /// What to do with bytes that have come.
    package enum Arrival: Sendable, Equatable {
        /// Write them at the end of the file, then call ``wrote(_:count:)``.
        case write
        /// Nobody wants them any more.
        case drop
    }

    /// Counts over all files.
    private struct Totals {
        /// The files that the peer may expect to be asked for, and the bytes of them that are not written.
        var expected: (files: Int, bytes: Int64) = (0, 0)
        /// Bytes that the peer was asked for and that are not written.
        var requested: Int64 = 0
        var busy = 0
        var withoutRoom = 0
        var unavailable = 0

        mutating func count(_ file: WantedAsset, _ sign: Int) {
            let written = file.progress?.written ?? 0
            if file.isExpected {
                expected.files += sign
                expected.bytes += Int64(sign) * (file.size - written)
            }
            requested += Int64(sign) * ((file.progress?.requested ?? 0) - written)
            switch file.obstacle {
            case .busy: busy += sign
            case .noRoom: withoutRoom += sign
            case nil: break
            }
            if file.isUnavailable { unavailable += sign }
        }
    }

    private var files: [AssetHash: WantedAsset] = [:]
    // What follows from the states of the files; ``set(_:_:)`` keeps it.
    private var queue = AssetQueue()
    private var underWay: Set<AssetHash> = []
    private var totals = Totals()

    /// Files that were begun anew, because what was there before was wrong. This outlives what is known of a file.
    private var begunAnew: Set<AssetHash> = []
    private var answers = PeerAnswers()
    /// There is no room, so nothing is asked for.
    private var isPaused = false
    /// The peer does not answer; nothing more is asked of it until it does.
    private var isStalled = false

    package init() {}

    /// Changes what is known of a file: nil if it is not wanted any more.
    private mutating func set(_ hash: AssetHash, _ file: WantedAsset?) {
        let old = files[hash]
        files[hash] = file
        if let old { totals.count(old, -1) }
        if let file { totals.count(file, 1) }
        if file?.isQueued == true, old?.isQueued != true { queue.append(hash) }
        if file?.isUnderWay == true { underWay.insert(hash) } else { underWay.remove(hash) }
    }

    private mutating func move(_ hash: AssetHash, to state: WantedAsset.State) {
        guard var file = files[hash] else { return }
        file.state = state
        set(hash, file)
    }

    // MARK: What is wanted

    /// A file is wanted. One that is known already is left as it is, but for a size that has changed.
    ///
    /// - Parameter isUrgent: somebody waits for it, so it goes before the others.
    package mutating func want(_ hash: AssetHash, size: Int64, isUrgent: Bool = false) {
        if var known = files[hash], !known.isUnavailable {
            if !known.isUnderWay {
                known.size = size
                set(hash, known)
            }
        } else if files[hash]?.size != size {
            // Of a peer that does not have the file, another size is another question.
            set(hash, WantedAsset(size: size))
        } else {
            return
        }
        if isUrgent { queue.moveToFront(hash) }
    }

    /// These files alone are still wanted. What is under way goes on: most of it may be here.
    package mutating func keepOnly(_ wanted: Set<AssetHash>) {
        for (hash, _) in files.filter({ !$0.value.isUnderWay && !wanted.contains($0.key) }) { set(hash, nil) }
    }

    /// Whether anything is wanted, from whomever.
    package var wantsAny: Bool { !files.isEmpty }

    /// How many files this side is still going to ask the peer for, or is receiving from it.
    package var remaining: Message.AssetsWanted {
        guard !isIdle else { return Message.AssetsWanted(files: 0, bytes: 0) }
        return Message.AssetsWanted(
            files: UInt64(totals.expected.files), bytes: UInt64(max(0, totals.expected.bytes)))
    }

    /// Whether there is nothing that this peer may still give.
    package var isIdle: Bool { isPaused || isStalled || totals.expected.files == 0 }

    /// Files that this peer does not have.
    package var unavailableCount: Int { totals.unavailable }

    // MARK: Waiting

    /// Whether files wait for somebody else who is receiving them; look again later with ``retryBusy()``.
    package var hasBusy: Bool { totals.busy > 0 }

    package mutating func retryBusy() { retry { $0 != .noRoom } }

    /// Whether there are files that there is no room for; look again later with ``retryTooLarge()``.
    package var hasTooLarge: Bool { totals.withoutRoom > 0 }

    package mutating func retryTooLarge() { retry { $0 == .noRoom } }

    private mutating func retry(_ isRetried: (WantedAsset.Obstacle) -> Bool) {
        let waiting = files.filter {
            if case .waiting(let obstacle) = $0.value.state { isRetried(obstacle) } else { false }
        }
        for (hash, file) in waiting { move(hash, to: .queued(file.obstacle)) }
    }

    /// There is no room: this side gives up all that is under way for now, and keeps what it has received.
    ///
    /// - Returns: the files to close.
    package mutating func pause() -> [AssetHash] {
        isPaused = true
        return giveUpAll()
    }

    package mutating func resume() { isPaused = false }

    /// Whether the peer still has to answer something.
    package var isAwaitingAnswers: Bool { !answers.isEmpty }

    /// The peer has not answered for long: this side leaves what is under way to other peers until it does.
    ///
    /// - Returns: the files to close.
    package mutating func stall() -> [AssetHash] {
        isStalled = true
        return giveUpAll()
    }

    private mutating func giveUpAll() -> [AssetHash] {
        let open = underWay.filter { if case .finishing = files[$0]?.state { false } else { true } }
        for hash in open {
            answers.drop(hash)
            notFinished(hash)
        }
        return Array(open)
    }

    // MARK: Steps

    /// What to do next; nil when something has to come first.
    package mutating func nextStep() -> Step? {
        let open = openFiles
        if let whole = open.first(where: { $0.left == 0 && $0.progress.written == $0.progress.requested }) {
            move(whole.hash, to: .finishing(whole.progress))
            return .finish(whole.hash)
        }
        guard !isPaused, !isStalled else { return nil }
        // What will be dropped when it comes is on its way, too: without it, a side that pauses often would ask for more
        // than is allowed.
        let room = ProtocolLimits.assetWindow - totals.requested - answers.droppedBytes
        guard room > 0 else { return nil }
        // The smallest rest first, so that files become whole.
        guard let next = open.filter({ $0.left > 0 }).min(by: { $0.left < $1.left }) else {
            return nextOpen()
        }
        return request(next, min(next.left, room))
    }

    /// A file whose bytes come, and how many of them the peer was not asked for yet.
    private typealias OpenFile = (hash: AssetHash, progress: WantedAsset.Progress, left: Int64)

    private var openFiles: [OpenFile] {
        underWay.compactMap { hash in
            guard let file = files[hash], case .receiving(let progress) = file.state else { return nil }
            return (hash, progress, left: file.size - progress.requested)
        }
    }

    private mutating func request(_ file: OpenFile, _ length: Int64) -> Step {
        var progress = file.progress
        let offset = progress.requested
        progress.requested += length
        move(file.hash, to: .receiving(progress))
        answers.expect(file.hash, from: offset, count: length)
        return .request(
            Message.AssetRequest(hash: file.hash, offset: UInt64(offset), length: UInt64(length)))
    }

    private mutating func nextOpen() -> Step? {
        // What was asked for before has to come, and be dropped, before it is asked for anew.
        guard underWay.count < ProtocolLimits.openAssets,
            let hash = queue.popFirst(
                where: { !answers.areOwed($0) }, in: { files[$0]?.isQueued == true }), let file = files[hash]
        else { return nil }
        move(hash, to: .opening(file.obstacle))
        return .open(hash, size: file.size)
    }

    /// The file is open, and this many bytes are there.
    ///
    /// - Returns: false when it was given up meanwhile, and is to be closed.
    package mutating func opened(_ hash: AssetHash, at offset: Int64) -> Bool {
        guard case .opening = files[hash]?.state else { return false }
        move(hash, to: .receiving(WantedAsset.Progress(begin: offset, requested: offset, written: offset)))
        return true
    }

    /// Somebody else is receiving the file.
    package mutating func isBusy(_ hash: AssetHash) {
        guard case .opening(let obstacle) = files[hash]?.state else { return }
        move(hash, to: .waiting(.busy(tries: (obstacle?.tries ?? 0) + 1)))
    }

    /// There is no room for this file, though there may be for others.
    package mutating func hasNoRoom(_ hash: AssetHash) {
        guard case .opening = files[hash]?.state else { return }
        move(hash, to: .waiting(.noRoom))
    }

    /// The file is there already, or not wanted any more.
    package mutating func isPresent(_ hash: AssetHash) { set(hash, nil) }

    package mutating func wrote(_ hash: AssetHash, count: Int) {
        guard case .receiving(var progress) = files[hash]?.state else { return }
        progress.written += Int64(count)
        move(hash, to: .receiving(progress))
    }

    /// The file has its name; or it did not have the bytes that its hash says, so this peer is not asked for it again.
    ///
    /// - Returns: whether the peer is to blame. When some of it was there before, that may as well have been wrong, and the
    ///   peer is asked for the whole once.
    @discardableResult
    package mutating func finished(_ hash: AssetHash, isIntact: Bool) -> Bool {
        guard case .finishing(let progress) = files[hash]?.state else { return false }
        if isIntact {
            set(hash, nil)
        } else if progress.begin > 0, begunAnew.insert(hash).inserted {
            notFinished(hash)
        } else {
            move(hash, to: .unavailable)
            return true
        }
        return false
    }

    /// The file could not be opened, or finished; it is tried again.
    package mutating func notFinished(_ hash: AssetHash) {
        guard let file = files[hash], file.isUnderWay else { return }
        move(hash, to: .queued(file.obstacle))
    }

    // MARK: Messages

    /// Bytes have come.
    package mutating func received(_ chunk: Message.AssetChunk) throws(ProtocolError) -> Arrival {
        let isWanted = try answers.received(chunk)
        isStalled = false
        return isWanted ? .write : .drop
    }

    /// The peer does not have a file that it was asked for: the answer to one request.
    ///
    /// - Returns: whether it is open and has to be closed.
    package mutating func isMissing(_ hash: AssetHash) throws(ProtocolError) -> Bool {
        let isWanted = try answers.receivedMissing(hash)
        isStalled = false
        guard isWanted else { return false }
        // Whatever comes to the requests after this one would leave a gap.
        answers.drop(hash)
        move(hash, to: .unavailable)
        return true
    }

    /// The peer has come to have files that it did not have when it was asked.
    package mutating func areAvailable(_ hashes: [AssetHash]) {
        for hash in hashes where files[hash]?.isUnavailable == true { move(hash, to: .queued()) }
    }
}
