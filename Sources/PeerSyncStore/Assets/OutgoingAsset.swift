import Foundation
import PeerSyncModel

/// A file that the store is sending to a peer.
package final class OutgoingAsset: Sendable {
    package let hash: AssetHash
    /// The version of the file, to tell it from a later one in its place.
    package let version: Version
    private let file: PosixFile

    /// The system's data of a file, which stay equal as long as nobody writes to the file.
    package struct Version: Hashable, Sendable {
        private let device: UInt64
        private let number: UInt64
        private let size: Int64
        private let modified: Int64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(status.st_ino)
            size = Int64(status.st_size)
            modified = status.modified
        }
    }

    init(_ hash: AssetHash, _ file: PosixFile) throws {
        self.hash = hash
        self.file = file
        version = Version(try file.status())
    }

    /// Reads from an offset; fewer than `count` bytes only at the end.
    package func read(at offset: Int64, upTo count: Int) throws -> [UInt8] {
        try file.read(at: offset, upTo: count)
    }

    /// Reads the whole file, and compares its hash with its name.
    package func isIntact() throws -> Bool { try AssetDirectory.hash(of: file) == hash }
}
