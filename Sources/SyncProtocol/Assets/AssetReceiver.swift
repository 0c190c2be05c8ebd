import SyncModel

/// The receiving half of the exchange of assets with one peer: a state machine without I/O.
///
/// Whoever drives it says what is wanted, asks for the ``nextStep()`` until there is none, and hands in what came of it.
/// Files are asked for piece by piece, so that what is on its way is bounded by ``ProtocolLimits/assetWindow`` whatever
/// the peer does, and a connection is never full of pictures when a record is to go through it.
///
/// A file that is wanted is in the queue, under way, or waits for something: that others let go of it, for room, or for
/// the answers to what was asked of it before. ``PeerAnswers`` keeps count of those.
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

    private struct Transfer {
        let size: Int64
        var isOpen = false
        var isFinishing = false
        /// What was there when it was opened.
        var begin: Int64 = 0
        /// Up to where the peer was asked for bytes.
        var requested: Int64 = 0
        /// Up to where they are written.
        var written: Int64 = 0
    }

    private var queue = AssetQueue()
    private var sizes: [AssetHash: Int64] = [:]
    private var totalSize: Int64 = 0
    private var transfers: [AssetHash: Transfer] = [:]
    /// Files that somebody else is receiving. They stay in here while it is tried again, so that nobody hears of more to
    /// come each time.
    private var busy: Set<AssetHash> = []
    /// How often they were found so, one time after the other.
    private var tries: [AssetHash: Int] = [:]
    /// Those that were found so often that it may take long. Until then the peer is not told that it may go: whoever has
    /// the file open may be asking somebody who does not have it.
    private var elsewhere: Set<AssetHash> = []
    private static let mostTries = 8
    /// Files that there is no room for, though there is for others. They stay in here as the busy ones do.
    private var tooLarge: Set<AssetHash> = []
    /// Files that the peer does not have.
    private var unavailable: [AssetHash: Int64] = [:]
    /// Files of which a rest from before was not what it should be.
    private var begunAnew: Set<AssetHash> = []
    private var answers = PeerAnswers()
    /// What there is no room for is not asked for.
    private var isPaused = false
    /// The peer does not answer; nothing more is asked of it until it does.
    private var isStalled = false

    package init() {}

    // MARK: What is wanted

    /// A file is wanted. One that is known already is left as it is, but for a size that has changed.
    ///
    /// - Parameter isUrgent: somebody waits for it, so it goes before the others.
    package mutating func want(_ hash: AssetHash, size: Int64, isUrgent: Bool = false) {
        if let known = unavailable[hash] {
            // In another size it is another question.
            guard known != size else { return }
            unavailable[hash] = nil
        }
        if let known = sizes[hash] {
            if transfers[hash] == nil {
                sizes[hash] = size
                totalSize += size - known
            }
        } else {
            sizes[hash] = size
            totalSize += size
            queue.append(hash)
        }
        if isUrgent { queue.moveToFront(hash) }
    }

    /// These files alone are still wanted. What is under way goes on: most of it may be here.
    package mutating func keepOnly(_ wanted: Set<AssetHash>) {
        for hash in sizes.keys where transfers[hash] == nil && !wanted.contains(hash) { forget(hash) }
        unavailable = unavailable.filter { wanted.contains($0.key) }
    }

    /// Whether anything is wanted, from whomever.
    package var wantsAny: Bool { !sizes.isEmpty || !unavailable.isEmpty }

    @discardableResult
    private mutating func forget(_ hash: AssetHash) -> Int64? {
        transfers[hash] = nil
        isFree(hash)
        tooLarge.remove(hash)
        queue.remove(hash)
        let size = sizes.removeValue(forKey: hash)
        totalSize -= size ?? 0
        return size
    }

    /// How many files this side is still going to ask the peer for, or is receiving from it.
    package var remaining: Message.AssetsWanted {
        guard !isIdle else { return Message.AssetsWanted(files: 0, bytes: 0) }
        let waiting = elsewhere.union(tooLarge)
        let bytes = waiting.reduce(0) { $0 + (sizes[$1] ?? 0) }
        let written = transfers.values.reduce(0) { $0 + $1.written }
        return Message.AssetsWanted(
            files: UInt64(max(0, sizes.count - waiting.count)),
            bytes: UInt64(max(0, totalSize - bytes - written)))
    }

    /// Whether there is nothing that this peer may still give.
    package var isIdle: Bool { isPaused || isStalled || sizes.count <= elsewhere.count + tooLarge.count }

    /// Files that this peer does not have.
    package var unavailableCount: Int { unavailable.count }

    // MARK: Waiting

    /// Whether files are waited for that somebody else is receiving; look again later with ``retryBusy()``.
    package var hasBusy: Bool { !busy.isEmpty }

    package mutating func retryBusy() {
        for hash in busy where transfers[hash] == nil { queue.append(hash) }
    }

    /// Whether there are files that there is no room for; look again later with ``retryTooLarge()``.
    package var hasTooLarge: Bool { !tooLarge.isEmpty }

    package mutating func retryTooLarge() {
        for hash in tooLarge where transfers[hash] == nil { queue.append(hash) }
    }

    /// There is no room: all that is under way is given up for now. What was received is kept.
    ///
    /// - Returns: the files to close.
    package mutating func pause() -> [AssetHash] {
        isPaused = true
        return giveUpAll()
    }

    package mutating func resume() { isPaused = false }

    /// Whether the peer still has to answer something.
    package var isAwaitingAnswers: Bool { !answers.isEmpty }

    /// The peer has not answered for long: what is under way is left to others until it does.
    ///
    /// - Returns: the files to close.
    package mutating func stall() -> [AssetHash] {
        isStalled = true
        return giveUpAll()
    }

    private mutating func giveUpAll() -> [AssetHash] {
        let open = transfers.filter { !$0.value.isFinishing }.map(\.key)
        for hash in open {
            transfers[hash] = nil
            answers.drop(hash)
            queue.append(hash)
        }
        return open
    }

    // MARK: Steps

    /// What to do next; nil when something has to come first.
    package mutating func nextStep() -> Step? {
        if let (hash, _) = transfers.first(where: {
            $0.value.isOpen && !$0.value.isFinishing && $0.value.written == $0.value.size
        }) {
            transfers[hash]!.isFinishing = true
            return .finish(hash)
        }
        guard !isPaused, !isStalled else { return nil }
        // What is to be dropped when it comes is on its way too: without it, who pauses often would ask for more than is
        // allowed.
        let underWay =
            transfers.values.reduce(0) { $0 + $1.requested - $1.written } + answers.droppedBytes
        guard underWay < ProtocolLimits.assetWindow else { return nil }
        // The smallest rest first, so that files become whole.
        let open = transfers.filter { $0.value.isOpen && $0.value.requested < $0.value.size }
        if let (hash, transfer) = open.min(by: {
            $0.value.size - $0.value.requested < $1.value.size - $1.value.requested
        }) {
            let length = min(transfer.size - transfer.requested, ProtocolLimits.assetWindow - underWay)
            transfers[hash]!.requested += length
            answers.expect(hash, from: transfer.requested, count: length)
            return .request(
                Message.AssetRequest(
                    hash: hash, offset: UInt64(transfer.requested), length: UInt64(length)))
        }
        return nextOpen()
    }

    private mutating func nextOpen() -> Step? {
        guard transfers.count < ProtocolLimits.openAssets else { return nil }
        // What was asked for before has to come, and be dropped, before it is asked for anew.
        while let hash = queue.popFirst(where: { !answers.areOwed($0) }) {
            guard let size = sizes[hash], transfers[hash] == nil else { continue }
            transfers[hash] = Transfer(size: size)
            return .open(hash, size: size)
        }
        return nil
    }

    /// The file is open, and this many bytes are there.
    ///
    /// - Returns: false when it was given up meanwhile, and is to be closed.
    package mutating func opened(_ hash: AssetHash, at offset: Int64) -> Bool {
        guard transfers[hash]?.isOpen == false else { return false }
        isFree(hash)
        tooLarge.remove(hash)
        transfers[hash]!.isOpen = true
        transfers[hash]!.begin = offset
        transfers[hash]!.requested = offset
        transfers[hash]!.written = offset
        return true
    }

    /// Somebody else is receiving the file.
    package mutating func isBusy(_ hash: AssetHash) {
        guard transfers.removeValue(forKey: hash) != nil else { return }
        tooLarge.remove(hash)
        busy.insert(hash)
        tries[hash, default: 0] += 1
        if tries[hash]! >= Self.mostTries { elsewhere.insert(hash) }
    }

    private mutating func isFree(_ hash: AssetHash) {
        busy.remove(hash)
        tries[hash] = nil
        elsewhere.remove(hash)
    }

    /// There is no room for this file, though there may be for others.
    package mutating func hasNoRoom(_ hash: AssetHash) {
        guard transfers.removeValue(forKey: hash) != nil else { return }
        isFree(hash)
        tooLarge.insert(hash)
    }

    /// The file is there already, or not wanted any more.
    package mutating func isPresent(_ hash: AssetHash) { forget(hash) }

    package mutating func wrote(_ hash: AssetHash, count: Int) {
        transfers[hash]?.written += Int64(count)
    }

    /// The file has its name; or it did not have the bytes that its hash says, so this peer is not asked for it again.
    ///
    /// - Returns: whether the peer is to blame. When some of it was there before, that may as well have been wrong, and the
    ///   peer is asked for the whole once.
    @discardableResult
    package mutating func finished(_ hash: AssetHash, isIntact: Bool) -> Bool {
        guard let transfer = transfers[hash] else { return false }
        guard !isIntact else {
            forget(hash)
            return false
        }
        if transfer.begin > 0, begunAnew.insert(hash).inserted {
            notFinished(hash)
            return false
        }
        unavailable[hash] = forget(hash)
        return true
    }

    /// The file could not be opened, or finished; it is tried again.
    package mutating func notFinished(_ hash: AssetHash) {
        guard transfers.removeValue(forKey: hash) != nil else { return }
        queue.append(hash)
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
        unavailable[hash] = forget(hash)
        return true
    }

    /// The peer has come to have files that it did not have when it was asked.
    package mutating func areAvailable(_ hashes: [AssetHash]) {
        for hash in hashes {
            guard let size = unavailable.removeValue(forKey: hash) else { continue }
            want(hash, size: size)
        }
    }
}
