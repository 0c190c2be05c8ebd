import SyncModel

/// The receiving half of the exchange of assets with one peer: a state machine without I/O.
///
/// Whoever drives it says what is wanted, asks for the ``nextStep()`` until there is none, and hands in what came of it.
/// Files are asked for piece by piece, so that what is on its way is bounded by ``ProtocolLimits/assetWindow`` whatever
/// the peer does, and a connection is never full of pictures when a record is to go through it.
package struct AssetReceiver: Sendable {
    /// Something to do.
    package enum Step: Sendable, Equatable {
        /// Open what is there of a file; answer with ``opened(_:at:)``, ``isBusy(_:)`` or ``isPresent(_:)``.
        case open(AssetHash, size: Int64)
        /// Ask the peer for a piece of a file.
        case request(Message.AssetRequest)
        /// The last byte is written. Hold the file against its hash and give it its name; answer with
        /// ``finished(_:isIntact:)``.
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
        /// Up to where the peer was asked for bytes.
        var requested: Int64 = 0
        /// Up to where bytes have come.
        var received: Int64 = 0
        /// Up to where they are written.
        var written: Int64 = 0
    }

    private var queue: [AssetHash] = []
    private var head = 0
    private var sizes: [AssetHash: Int64] = [:]
    private var totalSize: Int64 = 0
    private var transfers: [AssetHash: Transfer] = [:]
    /// Files that somebody else is receiving.
    private var busy: [AssetHash] = []
    /// Files that the peer does not have.
    private var unavailable: [AssetHash: Int64] = [:]
    /// Bytes that are still to come of transfers that were given up.
    private var abandoned: [AssetHash: (received: Int64, requested: Int64)] = [:]
    /// What there is no room for is not asked for.
    private var isPaused = false

    package init() {}

    // MARK: What is wanted

    /// Files that are wanted; those that are known already are left as they are.
    package mutating func want(_ hash: AssetHash, size: Int64) {
        guard sizes[hash] == nil, unavailable[hash] == nil else { return }
        sizes[hash] = size
        totalSize += size
        queue.append(hash)
    }

    private mutating func forget(_ hash: AssetHash) -> Int64? {
        transfers[hash] = nil
        let size = sizes.removeValue(forKey: hash)
        totalSize -= size ?? 0
        return size
    }

    /// How many files this side is still going to ask the peer for, or is receiving from it.
    package var remaining: Message.AssetsWanted {
        guard !isPaused else { return Message.AssetsWanted(files: 0, bytes: 0) }
        let elsewhere = busy.reduce(0) { $0 + (sizes[$1] ?? 0) }
        let written = transfers.values.reduce(0) { $0 + $1.written }
        return Message.AssetsWanted(
            files: UInt64(sizes.count - busy.count), bytes: UInt64(max(0, totalSize - elsewhere - written)))
    }

    /// Whether there is nothing that this peer may still give.
    package var isIdle: Bool { isPaused || sizes.count == busy.count }

    /// Files that this peer does not have.
    package var unavailableCount: Int { unavailable.count }

    /// Whether files are waited for that somebody else is receiving; look again later with ``retryBusy()``.
    package var hasBusy: Bool { !busy.isEmpty }

    package mutating func retryBusy() {
        queue += busy
        busy.removeAll()
    }

    /// There is no room: all that is under way is given up for now. What was received is kept.
    ///
    /// - Returns: the files to close.
    package mutating func pause() -> [AssetHash] {
        isPaused = true
        let open = transfers.filter { !$0.value.isFinishing }
        for (hash, transfer) in open {
            abandon(hash, transfer)
            queue.append(hash)
        }
        return open.map(\.key)
    }

    package mutating func resume() { isPaused = false }

    private mutating func abandon(_ hash: AssetHash, _ transfer: Transfer) {
        transfers[hash] = nil
        guard transfer.received < transfer.requested else { return }
        abandoned[hash] = (transfer.received, transfer.requested)
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
        guard !isPaused else { return nil }
        let underWay = transfers.values.reduce(0) { $0 + $1.requested - $1.written }
        guard underWay < ProtocolLimits.assetWindow else { return nil }
        // The smallest rest first, so that files become whole.
        let open = transfers.filter { $0.value.isOpen && $0.value.requested < $0.value.size }
        if let (hash, transfer) = open.min(by: {
            $0.value.size - $0.value.requested < $1.value.size - $1.value.requested
        }) {
            let length = min(transfer.size - transfer.requested, ProtocolLimits.assetWindow - underWay)
            transfers[hash]!.requested += length
            return .request(
                Message.AssetRequest(
                    hash: hash, offset: UInt64(transfer.requested), length: UInt64(length)))
        }
        return nextOpen()
    }

    private mutating func nextOpen() -> Step? {
        guard transfers.count < ProtocolLimits.openAssets else { return nil }
        while head < queue.count {
            let hash = queue[head]
            head += 1
            if head == queue.count {
                queue.removeAll()
                head = 0
            }
            guard let size = sizes[hash], transfers[hash] == nil else { continue }
            // What was asked for before has to come, and be dropped, before it is asked for anew.
            guard abandoned[hash] == nil else {
                busy.append(hash)
                continue
            }
            transfers[hash] = Transfer(size: size)
            return .open(hash, size: size)
        }
        return nil
    }

    /// The file is open, and this many bytes are there.
    ///
    /// - Returns: false when it was given up meanwhile, and is to be closed.
    package mutating func opened(_ hash: AssetHash, at offset: Int64) -> Bool {
        guard transfers[hash] != nil else { return false }
        transfers[hash]!.isOpen = true
        transfers[hash]!.requested = offset
        transfers[hash]!.received = offset
        transfers[hash]!.written = offset
        return true
    }

    /// Somebody else is receiving the file.
    package mutating func isBusy(_ hash: AssetHash) {
        transfers[hash] = nil
        busy.append(hash)
    }

    /// The file is there already, or not wanted any more.
    package mutating func isPresent(_ hash: AssetHash) {
        _ = forget(hash)
    }

    package mutating func wrote(_ hash: AssetHash, count: Int) {
        transfers[hash]?.written += Int64(count)
    }

    /// The file has its name; or it did not have the bytes that its hash says, so this peer is not asked for it again.
    package mutating func finished(_ hash: AssetHash, isIntact: Bool) {
        let size = forget(hash)
        if !isIntact { unavailable[hash] = size }
    }

    /// The file could not be finished for want of room.
    package mutating func notFinished(_ hash: AssetHash) {
        transfers[hash] = nil
        queue.append(hash)
    }

    // MARK: Messages

    /// Bytes have come.
    package mutating func received(_ chunk: Message.AssetChunk) throws(ProtocolError) -> Arrival {
        let count = Int64(chunk.bytes.readableBytes)
        if let (received, requested) = abandoned[chunk.hash] {
            guard count > 0, chunk.offset == UInt64(received), received + count <= requested else {
                throw Self.unasked
            }
            abandoned[chunk.hash] = received + count == requested ? nil : (received + count, requested)
            return .drop
        }
        guard let transfer = transfers[chunk.hash], count > 0, chunk.offset == UInt64(transfer.received),
            transfer.received + count <= transfer.requested
        else { throw Self.unasked }
        transfers[chunk.hash]!.received += count
        return .write
    }

    private static var unasked: ProtocolError {
        ProtocolError(.unexpectedMessage, "the other side sent bytes of a file that it was not asked for")
    }

    /// The peer does not have a file that it was asked for.
    ///
    /// - Returns: whether it is open and has to be closed.
    package mutating func isMissing(_ hash: AssetHash) throws(ProtocolError) -> Bool {
        if abandoned.removeValue(forKey: hash) != nil { return false }
        guard let transfer = transfers[hash], transfer.received < transfer.requested else {
            throw Self.unasked
        }
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
