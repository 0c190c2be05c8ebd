import PeerSyncModel

/// The files of one machine in memory, of which only the length is kept. The sessions of the machine share it, and it
/// outlives them.
package final class ModelDisk {
    /// Whole files, and how long they are.
    package var files: [AssetHash: Int64] = [:]
    /// What is there of others.
    package internal(set) var parts: [AssetHash: Int64] = [:]
    /// The files that have come from other machines, in order.
    package internal(set) var received: [AssetHash] = []
    /// Files that somebody has open to receive them.
    private var held: Set<AssetHash> = []

    package init() {}

    /// Opens the part of a file that is here, or begins one.
    ///
    /// - Returns: nil if somebody else has it open.
    func receive(_ hash: AssetHash, size: Int64) -> IncomingFile? {
        guard held.insert(hash).inserted else { return nil }
        // A longer part is one of another file.
        if let there = parts[hash], there <= size { return IncomingFile(self, hash, size) }
        parts[hash] = 0
        return IncomingFile(self, hash, size)
    }

    func release(_ hash: AssetHash) { held.remove(hash) }
}
