import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// Sending: serves the peer's requests, and tells it of files that have come.
extension AssetSession {
    /// The peer asks for a piece of a file.
    func received(_ piece: Message.AssetRequest) throws {
        try sender.received(piece)
        wait.step()
        request.raise()
    }

    func received(_ wanted: Message.AssetsWanted) {
        // A repeated or larger number is no step.
        if wanted.bytes < sender.wantedByPeer?.bytes ?? .max { wait.step() }
        sender.received(wanted)
        // A listener with many machines would otherwise run out of open files.
        if sender.isPeerIdle { outgoing.removeAll() }
        let isNews = wanted.files != sent.left.files
        sent.left = wanted
        if isNews { report() }
        wake.raise()
    }

    func serve() async throws {
        for await _ in request {
            while true {
                if let hashes = sender.nextAvailable() {
                    await outbox.sendWhenIdle(.assetsAvailable(hashes))
                } else if let piece = sender.nextPiece {
                    try await serve(piece)
                } else {
                    break
                }
            }
        }
    }

    private func serve(_ piece: (hash: AssetHash, offset: UInt64, count: Int)) async throws {
        guard let bytes = try await bytes(of: piece) else {
            outgoing[piece.hash] = nil
            // sendWhenIdle puts this behind the pieces that were read before: the answers keep the order of the
            // requests.
            await outbox.sendWhenIdle(.assetMissing(piece.hash))
            return
        }
        sender.sent(piece.count)
        let chunk = Message.AssetChunk(
            hash: piece.hash, offset: piece.offset, bytes: ByteBuffer(bytes: bytes))
        guard await outbox.sendWhenIdle(.assetChunk(chunk)) else { return }
        wait.step()
        sent.add(piece.count, left: sent.left)
        report()
    }

    /// Reads the bytes that the peer asks for. Returns nil, and notes the file as missing, when it cannot.
    private func bytes(of piece: (hash: AssetHash, offset: UInt64, count: Int)) async throws -> [UInt8]? {
        guard let file = try await currentFile(piece.hash) else {
            // The file is owed even when no record refers to it: that record may be on its way here.
            sender.isMissing(piece.hash, isOwed: true)
            return nil
        }
        do {
            let bytes = try await blocking {
                try file.read(at: Int64(clamping: piece.offset), upTo: piece.count)
            }
            if bytes.count == piece.count { return bytes }
            // The peer believes that the file is larger than it is, so this file is of no use to it.
            sender.isMissing(piece.hash, isOwed: false)
        } catch {
            engine.logger.warning("\(piece.hash) cannot be read: \(error)")
            // The engine hashes it again before any peer gets it.
            engine.assets.doubt(piece.hash)
            sender.isMissing(piece.hash, isOwed: true)
        }
        return nil
    }

    /// Finds the file that the peer asks for.
    ///
    /// A file that comes during the search is not owed to the peer yet, so nobody would announce it. The search
    /// therefore begins again.
    private func currentFile(_ hash: AssetHash) async throws -> OutgoingAsset? {
        repeat {
            hasMoreCome = false
            if let file = try await file(hash) { return file }
        } while hasMoreCome
        return nil
    }

    /// The file that the peer asks for, if it is here and the peer may have it.
    private func file(_ hash: AssetHash) async throws -> OutgoingAsset? {
        if let file = outgoing[hash] { return file }
        guard let assets = store.assetDirectory, try await store.assets.isReferred(hash, in: zones) else {
            return nil
        }
        // A program may have written its bytes into a column a moment ago, so that they are about to become a file.
        if try await !blocking({ assets.isHere(hash) }) { try await store.assets.storeFilesIfPossible() }
        switch try await engine.assets.open(hash, in: assets, logger: engine.logger) {
        case .file(let file):
            // Files that the peer has completely need not stay open.
            if outgoing.count >= 2 * ProtocolLimits.openAssets { outgoing.removeAll() }
            outgoing[hash] = file
            return file
        case .missing: break
        case .damaged:
            engine.onEvent(.assetDamaged(hash))
            await engine.assets.lost()
        }
        return nil
    }

    /// Announces a file that a session has received, if the peer asked for it in vain.
    func arrived(_ hash: AssetHash) async {
        hasMoreCome = true
        do {
            try await announce([hash])
        } catch {
            // The next refresh announces all owed files, or ends the session if that fails too.
            isFullLookDue = true
        }
        wake.raise()
    }

    /// Tells the peer of files that it has asked for in vain, when the files and records that refer to them are here
    /// now.
    func tellOwed() async throws {
        hasMoreCome = true
        guard let assets = store.assetDirectory, !sender.owed.isEmpty else { return }
        let owed = sender.owed
        try await announce(blocking { owed.filter { assets.isHere($0) } })
    }

    private func announce(_ hashes: some Sequence<AssetHash>) async throws {
        for hash in hashes where sender.owed.contains(hash) {
            // The peer may have asked for a file to which no record in its zones refers.
            if try await store.assets.isReferred(hash, in: zones) { sender.arrived([hash]) }
        }
        request.raise()
    }
}
