import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// Drives the exchange of files with one peer as a session does, with files in memory, and with every point at which a
/// session waits for its disk as a step of its own.
package struct ModelAssets {
    /// What goes on at the same time in a session.
    package enum Strand: CaseIterable {
        case messages
        case steps
        case writing
        case finishing
        case serving
    }

    /// What the disk makes of a file that is to be opened or finished.
    package enum Luck {
        case good
        case busy
        case noRoom
        case full
        case broken
    }

    package var receiver = AssetReceiver()
    package var sender = AssetSender()
    package let disk: ModelDisk
    /// Whether the peer may have a file: a record that it may see refers to the file.
    package var mayPeerHave: (AssetHash) throws -> Bool = { _ in true }
    package var inbox: [Message] = []
    package private(set) var outbox: [Message] = []
    /// What the peer was asked for and has not answered: where the next byte of each answer is, and how many are left.
    package private(set) var asked: [Message.AssetRequest] = []

    /// The files that are open.
    private var incoming: [AssetHash: IncomingFile] = [:]
    private var opening: (hash: AssetHash, size: Int64)?
    /// What has come, with the file that was open then.
    private var arrivals: [(chunk: Message.AssetChunk, file: IncomingFile?)] = []
    private var writing: (chunk: Message.AssetChunk, file: IncomingFile)?
    /// The file is no longer one of the open ones once its end has begun.
    private var toFinish: [(hash: AssetHash, begun: IncomingFile?)] = []
    private var told: Message.AssetsWanted?
    /// What the disk does next.
    package var luck = Luck.good

    private static let zeros = ByteBuffer(repeating: 0, count: ProtocolLimits.assetChunk)

    package static func bytes(_ count: Int) -> ByteBuffer { zeros.getSlice(at: 0, length: count)! }

    package init(on disk: ModelDisk = ModelDisk()) {
        self.disk = disk
    }

    /// The same files in a new session, which wants what is not there of some of them.
    package init(_ last: ModelAssets, wanting wanted: [AssetHash: Int64]) {
        self.init(on: last.disk)
        for (hash, size) in wanted.sorted(by: { $0.key < $1.key }) where disk.files[hash] == nil {
            receiver.want(hash, size: size)
        }
    }

    /// Whether both sides have the files that they want and can get.
    package var isDone: Bool { receiver.isIdle && sender.isPeerIdle }

    package mutating func takeOutbox() -> [Message] {
        defer { outbox = [] }
        return outbox
    }

    /// Somebody else has put a file here.
    package mutating func put(_ hash: AssetHash, size: Int64) throws {
        disk.files[hash] = size
        try arrived(hash)
    }

    /// A file is here now. The peer hears of it if it has asked for it in vain.
    package mutating func arrived(_ hash: AssetHash) throws {
        if sender.owed.contains(hash), try mayPeerHave(hash) { sender.arrived([hash]) }
    }

    /// The peer may have more files now. It hears of those that are here and that it has asked for in vain.
    package mutating func tellOwed() throws {
        for hash in sender.owed.sorted() where disk.files[hash] != nil { try arrived(hash) }
    }

    /// Tells the peer how much this side is going to ask for, when that has changed.
    package mutating func tell() {
        guard told != receiver.remaining else { return }
        told = receiver.remaining
        outbox.append(.assetsWanted(receiver.remaining))
    }

    /// Goes on with a strand up to where it has to wait the next time.
    ///
    /// - Returns: whether there was anything to do.
    @discardableResult
    package mutating func step(_ strand: Strand) throws -> Bool {
        let didWork =
            switch strand {
            case .messages: try receive()
            case .steps: try goOn()
            case .writing: write()
            case .finishing: try finish()
            case .serving: try serve()
            }
        let owed = asked.reduce(0) { $0 + Int64($1.length) }
        try expect(owed <= ProtocolLimits.assetWindow, "\(owed) bytes are on their way")
        try expect(incoming.count <= ProtocolLimits.openAssets, "\(incoming.count) files are open")
        _ = receiver.remaining
        return didWork
    }

    // MARK: Receiving

    private mutating func receive() throws -> Bool {
        guard !inbox.isEmpty else { return false }
        switch inbox.removeFirst() {
        case .assetRequest(let request): try sender.received(request)
        case .assetsWanted(let wanted): sender.received(wanted)
        case .assetsAvailable(let hashes): receiver.areAvailable(hashes)
        case .assetChunk(let chunk):
            let arrival = try receiver.received(chunk)
            try answered(chunk.hash, chunk.bytes.readableBytes, isMissing: false)
            if arrival == .write { arrivals.append((chunk, incoming[chunk.hash])) }
        case .assetMissing(let hash):
            let isOpen = try receiver.isMissing(hash)
            try answered(hash, 0, isMissing: true)
            if isOpen { incoming[hash] = nil }
        default: break
        }
        return true
    }

    /// Takes an answer off the first request for the file.
    private mutating func answered(_ hash: AssetHash, _ count: Int, isMissing: Bool) throws {
        guard let index = asked.firstIndex(where: { $0.hash == hash }) else {
            throw BrokenInvariant(description: "an answer to nothing was taken")
        }
        try expect(UInt64(count) <= asked[index].length, "more was taken than was asked for")
        asked[index].offset += UInt64(count)
        asked[index].length -= UInt64(count)
        if isMissing || asked[index].length == 0 { asked.remove(at: index) }
    }

    private mutating func goOn() throws -> Bool {
        if let (hash, size) = opening {
            opening = nil
            opened(hash, size)
            return true
        }
        switch receiver.nextStep() {
        case nil: return false
        case .open(let hash, let size): opening = (hash, size)
        case .finish(let hash): toFinish.append((hash, nil))
        case .request(let request):
            try expect(
                request.length > 0 && request.length <= UInt64(ProtocolLimits.assetWindow),
                "\(request.length) bytes are asked for")
            asked.append(request)
            outbox.append(.assetRequest(request))
        }
        return true
    }

    private mutating func opened(_ hash: AssetHash, _ size: Int64) {
        if disk.files[hash] == size { return receiver.isPresent(hash) }
        switch luck {
        case .busy: receiver.isBusy(hash)
        case .noRoom: receiver.hasNoRoom(hash)
        case .full, .broken:
            receiver.notFinished(hash)
            pause()
        case .good:
            guard let file = disk.receive(hash, size: size) else { return receiver.isBusy(hash) }
            if receiver.opened(hash, at: file.count) { incoming[hash] = file }
        }
    }

    package mutating func pause() { for hash in receiver.pause() { incoming[hash] = nil } }

    /// The peer has not answered for long, if it has anything to answer.
    package mutating func stall() {
        guard receiver.isAwaitingAnswers, !receiver.isIdle else { return }
        for hash in receiver.stall() { incoming[hash] = nil }
    }

    private mutating func write() -> Bool {
        if let (chunk, file) = writing {
            writing = nil
            file.append(chunk.bytes.readableBytes)
            receiver.wrote(chunk.hash, count: chunk.bytes.readableBytes)
            return true
        }
        guard !arrivals.isEmpty else { return false }
        let (chunk, file) = arrivals.removeFirst()
        guard let file, file === incoming[chunk.hash], file.count == Int64(chunk.offset) else { return true }
        if luck == .full { pause() } else { writing = (chunk, file) }
        return true
    }

    private mutating func finish() throws -> Bool {
        guard let (hash, begun) = toFinish.first else { return false }
        guard let begun else {
            if let file = incoming.removeValue(forKey: hash) {
                toFinish[0].begun = file
            } else {
                toFinish.removeFirst()
                receiver.notFinished(hash)
            }
            return true
        }
        toFinish.removeFirst()
        let isIntact = luck != .broken
        let isWhole = begun.finish(isIntact: isIntact)
        try expect(isWhole || !isIntact, "a file of another size is taken for \(hash)")
        if isWhole { try arrived(hash) }
        receiver.finished(hash, isIntact: isWhole)
        return true
    }

    // MARK: Sending

    private mutating func serve() throws -> Bool {
        let available = sender.nextAvailable()
        if let hashes = available {
            try expect(
                (1...ProtocolLimits.maximumAssetsAvailable).contains(hashes.count), "\(hashes.count) files")
            outbox.append(.assetsAvailable(hashes))
        }
        guard let piece = sender.nextPiece else { return available != nil }
        try expect((1...ProtocolLimits.assetChunk).contains(piece.count), "a piece of \(piece.count) bytes")
        let size = try mayPeerHave(piece.hash) ? disk.files[piece.hash] : nil
        guard let size, piece.offset <= UInt64(size), piece.count <= size - Int64(piece.offset) else {
            sender.isMissing(piece.hash, isOwed: size == nil)
            outbox.append(.assetMissing(piece.hash))
            return true
        }
        sender.sent(piece.count)
        outbox.append(
            .assetChunk(
                Message.AssetChunk(hash: piece.hash, offset: piece.offset, bytes: Self.bytes(piece.count))))
        return true
    }
}
