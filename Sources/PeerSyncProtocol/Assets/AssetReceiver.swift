import PeerSyncModel

/// The receiving half of the exchange of assets with one peer: a state machine without I/O.
///
/// The driver says which files this side wants, asks for the ``nextStep()`` until it is nil, and reports the result of
/// each step. The receiver asks for files piece by piece. So ``ProtocolLimits/assetWindow`` bounds the bytes on their
/// way, whatever the peer does, and files never fill a connection that a record has to go through.
///
/// Each wanted file has one ``WantedAsset/State``. ``PeerAnswers`` counts the answers that the peer still owes, also
/// for files that this side has given up.
package struct AssetReceiver: Sendable {
    /// A task for the driver.
    package enum Step: Sendable, Equatable {
        /// Open the part of a file that is here; answer with ``opened(_:at:)``, ``isBusy(_:)``, ``hasNoRoom(_:)``,
        /// ``notFinished(_:)`` or ``isPresent(_:)``.
        case open(AssetHash, size: Int64)
        /// Ask the peer for a piece of a file.
        case request(Message.AssetRequest)
        /// Check the file against its hash and give it its name, because its last byte is written; answer with
        /// ``finished(_:isIntact:)`` or ``notFinished(_:)``.
        case finish(AssetHash)
    }

    /// The driver's task for bytes that have arrived.
    package enum Arrival: Sendable, Equatable {
        /// Write them at the end of the file, then call ``wrote(_:count:)``.
        case write
        /// Nobody wants them any more.
        case drop
    }

    /// Counts over all files.
    private struct Totals {
        /// The files that this side may still request from the peer, and their bytes that are not written yet.
        var expected: (files: Int, bytes: Int64) = (0, 0)
        /// Bytes that this side has requested and not written yet.
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
    // These follow from the states of the files; ``set(_:_:)`` keeps them up to date.
    private var queue = AssetQueue()
    private var underWay: Set<AssetHash> = []
    private var totals = Totals()

    /// Files that this side has begun anew, because the earlier bytes were wrong. This outlives a file's entry in
    /// ``files``.
    private var begunAnew: Set<AssetHash> = []
    private var answers = PeerAnswers()
    /// Whether this side asks for nothing because it has no room.
    package private(set) var isPaused = false
    /// Whether the peer does not answer. This side asks it for nothing more until it does.
    private var isStalled = false

    package init() {}

    /// Changes the entry of a file: nil if this side does not want it any more.
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

    // MARK: Wanted files

    /// Adds a wanted file. A known file stays as it is, except for a changed size.
    ///
    /// - Parameter isUrgent: whether somebody waits for the file, so that it goes before the others.
    package mutating func want(_ hash: AssetHash, size: Int64, isUrgent: Bool = false) {
        if var known = files[hash], !known.isUnavailable {
            if !known.isUnderWay {
                known.size = size
                set(hash, known)
            }
        } else if files[hash]?.size != size {
            // A peer that lacks the file with one size may have it with another.
            set(hash, WantedAsset(size: size))
        } else {
            return
        }
        if isUrgent { queue.moveToFront(hash) }
    }

    /// Drops all wanted files but these. A file under way goes on, because most of it may be here.
    package mutating func keepOnly(_ wanted: Set<AssetHash>) {
        for (hash, _) in files.filter({ !$0.value.isUnderWay && !wanted.contains($0.key) }) { set(hash, nil) }
    }

    /// Whether this side wants any file, from any peer.
    package var wantsAny: Bool { !files.isEmpty }

    /// The files that this side will still request from the peer or is receiving from it, and their bytes.
    package var remaining: Message.AssetsWanted {
        guard !isIdle else { return Message.AssetsWanted(files: 0, bytes: 0) }
        return Message.AssetsWanted(
            files: UInt64(totals.expected.files), bytes: UInt64(max(0, totals.expected.bytes)))
    }

    /// Whether this side can get nothing more from this peer for now.
    package var isIdle: Bool { isPaused || isStalled || totals.expected.files == 0 }

    /// The number of files that this peer does not have.
    package var unavailableCount: Int { totals.unavailable }

    // MARK: Waiting

    /// Whether files wait because another receiver has them; try again later with ``retryBusy()``.
    package var hasBusy: Bool { totals.busy > 0 }

    package mutating func retryBusy() { retry { $0 != .noRoom } }

    /// Whether files wait because there is no room for them; try again later with ``retryTooLarge()``.
    package var hasTooLarge: Bool { totals.withoutRoom > 0 }

    package mutating func retryTooLarge() { retry { $0 == .noRoom } }

    private mutating func retry(_ isRetried: (WantedAsset.Obstacle) -> Bool) {
        let waiting = files.filter {
            if case .waiting(let obstacle) = $0.value.state { isRetried(obstacle) } else { false }
        }
        for (hash, file) in waiting.sorted(by: { $0.key < $1.key }) { move(hash, to: .queued(file.obstacle)) }
    }

    /// Gives up all files under way for now, because there is no room. This side keeps the bytes that it has received.
    ///
    /// - Returns: the files to close.
    package mutating func pause() -> [AssetHash] {
        isPaused = true
        return giveUpAll()
    }

    package mutating func resume() { isPaused = false }

    /// Whether the peer still owes an answer.
    package var isAwaitingAnswers: Bool { !answers.isEmpty }

    /// Leaves the files under way to other peers until this peer answers, because it has not answered for long.
    ///
    /// - Returns: the files to close.
    package mutating func stall() -> [AssetHash] {
        isStalled = true
        return giveUpAll()
    }

    private mutating func giveUpAll() -> [AssetHash] {
        let open = underWay.sorted().filter { if case .finishing = files[$0]?.state { false } else { true } }
        for hash in open {
            answers.drop(hash)
            notFinished(hash)
        }
        return open
    }

    // MARK: Steps

    /// Returns the next step; nil if something else has to happen first.
    package mutating func nextStep() -> Step? {
        let open = openFiles
        if let whole = open.first(where: { $0.left == 0 && $0.progress.written == $0.progress.requested }) {
            move(whole.hash, to: .finishing(whole.progress))
            return .finish(whole.hash)
        }
        guard !isPaused, !isStalled else { return nil }
        // Bytes that this side will drop are on their way, too. Without them in the sum, a side that pauses often
        // would ask for more than is allowed.
        let room = ProtocolLimits.assetWindow - totals.requested - answers.droppedBytes
        guard room > 0 else { return nil }
        // The smallest rest comes first, so that files become whole.
        guard let next = open.filter({ $0.left > 0 }).min(by: { $0.left < $1.left }) else {
            return nextOpen()
        }
        return request(next, min(next.left, room))
    }

    /// A file that this side is receiving, and the number of its bytes that it has not requested yet.
    private typealias OpenFile = (hash: AssetHash, progress: WantedAsset.Progress, left: Int64)

    private var openFiles: [OpenFile] {
        // In a fixed order: the same events always lead to the same requests.
        underWay.sorted().compactMap { hash in
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
        // The bytes of an earlier request have to come, and this side has to drop them, before it asks for the file
        // anew.
        guard underWay.count < ProtocolLimits.openAssets,
            let hash = queue.popFirst(
                where: { !answers.areOwed($0) }, in: { files[$0]?.isQueued == true }), let file = files[hash]
        else { return nil }
        move(hash, to: .opening(file.obstacle))
        return .open(hash, size: file.size)
    }

    /// Notes that the file is open and that `offset` bytes of it are here.
    ///
    /// - Returns: false if this side has given the file up meanwhile; then the driver closes it.
    package mutating func opened(_ hash: AssetHash, at offset: Int64) -> Bool {
        guard case .opening = files[hash]?.state else { return false }
        move(hash, to: .receiving(WantedAsset.Progress(begin: offset, requested: offset, written: offset)))
        return true
    }

    /// Notes that another receiver has the file.
    package mutating func isBusy(_ hash: AssetHash) {
        guard case .opening(let obstacle) = files[hash]?.state else { return }
        move(hash, to: .waiting(.busy(tries: (obstacle?.tries ?? 0) + 1)))
    }

    /// Notes that there is no room for this file; there may be room for others.
    package mutating func hasNoRoom(_ hash: AssetHash) {
        guard case .opening = files[hash]?.state else { return }
        move(hash, to: .waiting(.noRoom))
    }

    /// Drops a file that is here already, or that nobody wants any more.
    package mutating func isPresent(_ hash: AssetHash) { set(hash, nil) }

    package mutating func wrote(_ hash: AssetHash, count: Int) {
        guard case .receiving(var progress) = files[hash]?.state else { return }
        progress.written += Int64(count)
        move(hash, to: .receiving(progress))
    }

    /// Notes the end of a file: it has its name, or its bytes do not match its hash. In the second case this side does
    /// not ask this peer for it again.
    ///
    /// - Returns: whether the peer is to blame. If a part of the file was here before, that part may have been wrong;
    ///   then this side asks the peer once for the whole file.
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

    /// Puts a file that the driver could not open or finish back in line.
    package mutating func notFinished(_ hash: AssetHash) {
        guard let file = files[hash], file.isUnderWay else { return }
        move(hash, to: .queued(file.obstacle))
    }

    // MARK: Messages

    /// Handles bytes of a file.
    package mutating func received(_ chunk: Message.AssetChunk) throws(ProtocolError) -> Arrival {
        let isWanted = try answers.received(chunk)
        isStalled = false
        return isWanted ? .write : .drop
    }

    /// Handles the peer's answer to one request that it does not have the file.
    ///
    /// - Returns: whether the file is open, so that the driver has to close it.
    package mutating func isMissing(_ hash: AssetHash) throws(ProtocolError) -> Bool {
        let isWanted = try answers.receivedMissing(hash)
        isStalled = false
        guard isWanted else { return false }
        // The answers to the later requests would leave a gap.
        answers.drop(hash)
        move(hash, to: .unavailable)
        return true
    }

    /// Handles the peer's news that it has files now that it lacked before.
    package mutating func areAvailable(_ hashes: [AssetHash]) {
        for hash in hashes where files[hash]?.isUnavailable == true { move(hash, to: .queued()) }
    }
}
