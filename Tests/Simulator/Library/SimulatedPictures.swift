import PeerSyncModel
import TestSupport

/// The files that simulated programs give to records: few, so that several records have the same one.
enum SimulatedPictures {
    /// An empty one, small ones, and some that do not fit into one piece.
    private static let sizes: [Int64] = [0, 1, 700, 65_281, 200_000]

    static let all: [Asset] = sizes.enumerated().map { number, size in
        let hash = AssetHash([UInt8](repeating: UInt8(number + 1), count: AssetHash.length))!
        return Asset(hash: hash, size: size, mediaType: "image/png", name: "")!
    }

    /// Those of the records at the beginning.
    static let (small, large) = (all[2], all[3])

    static func size(_ hash: AssetHash) -> Int64? { all.first { $0.hash == hash }?.size }

    /// Draws the value that a program writes into a column. Mostly its machine has the file then.
    static func value(on replica: SimulatedReplica, _ random: inout SeededGenerator) -> String {
        guard !random.oneIn(5) else { return "NULL" }
        let asset = all.randomElement(using: &random)!
        replica.disk.files[asset.hash] = random.oneIn(4) ? nil : asset.size
        return "'\(asset.json)'"
    }
}
