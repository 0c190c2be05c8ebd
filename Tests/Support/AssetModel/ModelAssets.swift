import NIOCore
import SyncModel
import SyncProtocol
import TestSupport

/// Drives the exchange of files with one peer as a session does, with files in memory of which only the length is kept,
/// and with every point at which a session waits for its disk as a step of its own.
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
    /// Whole files, and how long they are.
    package private(set) var files: [AssetHash: Int64] = [:]
    /// What is there of others.
    package private(set) var parts: [AssetHash: Int64] = [:]
    package var inbox: [Message] = []
    package private(set) var outbox: [Message] = []
    /// What the peer was asked for and has not answered: where the next byte of each answer is, and how many are left.
    package private(set) var asked: [Message.AssetRequest] = []

    /// The files that are open, each time under another number.
    private var incoming: [AssetHash: Int] = [:]
    private var openings = 0
    private var opening: (hash: AssetHash, size: Int64)?
    /// What has come, with the number of the file that was open then, and holds it.
    private var arrivals: [(chunk: Message.AssetChunk, opening: Int?)] = []
    private var writing: Message.AssetChunk?
    private var toFinish: [(hash: AssetHash, hasBegun: Bool)] = []
    /// What the disk does next.
    package var luck = Luck.good

    private static let zeros = ByteBuffer(repeating: 0, count: ProtocolLimits.assetChunk)

    package static func bytes(_ count: Int) -> ByteBuffer { zeros.getSlice(at: 0, length: count)! }

    package init() {}

    /// The same files in a new session, which wants what is not there of some of them.
    package init(_ last: ModelAssets, wanting wanted: [AssetHash: Int64]) {
        (files, parts) = (last.files, last.parts)
        for (hash, size) in wanted.sorted(by: { $0.key < $1.key }) where files[hash] == nil {
            receiver.want(hash, size: size)
        }
    }

    package mutating func takeOutbox() -> [Message] {
        defer { outbox = [] }
        return outbox
    }

    /// Somebody else has put a file here.
    package mutating func put(_ hash: AssetHash, size: Int64) {
        files[hash] = size
        sender.arrived([hash])
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
            case .finishing: finish()
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
        case .finish(let hash): toFinish.append((hash, false))
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
        if files[hash] == size { return receiver.isPresent(hash) }
        let isHeld = writing?.hash == hash || arrivals.contains { $0.chunk.hash == hash && $0.opening != nil }
        if isHeld || luck == .busy { return receiver.isBusy(hash) }
        switch luck {
        case .noRoom: receiver.hasNoRoom(hash)
        case .full, .broken:
            receiver.notFinished(hash)
            pause()
        default:
            // What is there of a file of another length is not of this one.
            let there = (parts[hash] ?? 0) <= size ? parts[hash] ?? 0 : 0
            guard receiver.opened(hash, at: there) else { return }
            parts[hash] = there
            openings += 1
            incoming[hash] = openings
        }
    }

    package mutating func pause() { for hash in receiver.pause() { incoming[hash] = nil } }

    /// The peer has not answered for long, if it has anything to answer.
    package mutating func stall() {
        guard receiver.isAwaitingAnswers, !receiver.isIdle else { return }
        for hash in receiver.stall() { incoming[hash] = nil }
    }

    private mutating func write() -> Bool {
        if let chunk = writing {
            writing = nil
            parts[chunk.hash, default: 0] += Int64(chunk.bytes.readableBytes)
            receiver.wrote(chunk.hash, count: chunk.bytes.readableBytes)
            return true
        }
        guard !arrivals.isEmpty else { return false }
        let (chunk, opening) = arrivals.removeFirst()
        guard let opening, opening == incoming[chunk.hash], parts[chunk.hash] == Int64(chunk.offset)
        else { return true }
        if luck == .full { pause() } else { writing = chunk }
        return true
    }

    private mutating func finish() -> Bool {
        guard let (hash, hasBegun) = toFinish.first else { return false }
        guard hasBegun else {
            if incoming.removeValue(forKey: hash) != nil {
                toFinish[0].hasBegun = true
            } else {
                toFinish.removeFirst()
                receiver.notFinished(hash)
            }
            return true
        }
        toFinish.removeFirst()
        let size = parts.removeValue(forKey: hash) ?? 0
        if luck != .broken { put(hash, size: size) }
        receiver.finished(hash, isIntact: luck != .broken)
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
        let size = files[piece.hash]
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
