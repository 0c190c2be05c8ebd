import PeerSyncModel

/// A file that a session is receiving. Nobody else can open it as long as this exists.
final class IncomingFile {
    private let disk: ModelDisk
    private let hash: AssetHash
    private let size: Int64

    init(_ disk: ModelDisk, _ hash: AssetHash, _ size: Int64) {
        (self.disk, self.hash, self.size) = (disk, hash, size)
    }

    deinit { disk.release(hash) }

    /// How many of its bytes are here.
    var count: Int64 { disk.parts[hash] ?? 0 }

    func append(_ count: Int) { disk.parts[hash, default: 0] += Int64(count) }

    /// Drops the part, and gives the file its name if the bytes are the right ones.
    ///
    /// - Returns: whether it is whole.
    func finish(isIntact: Bool) -> Bool {
        let isWhole = disk.parts.removeValue(forKey: hash) == size && isIntact
        guard isWhole else { return false }
        disk.files[hash] = size
        disk.received.append(hash)
        return true
    }
}
