import Foundation
import PeerSyncModel

/// A file that the store is receiving, in order from the first byte to the last.
///
/// When the connection ends early, the received bytes stay, and the store continues with the next peer that has the
/// file. Only one task at a time uses it.
package final class IncomingAsset: @unchecked Sendable {
    // Sendable: the one task that receives the file never calls two methods at once.
    private let directory: AssetDirectory
    private let hash: AssetHash
    private let size: Int64
    private let file: PosixFile
    private let path: URL
    private var hasher = AssetHasher()
    private var isFinished = false
    /// The bytes written since the last check for room.
    private var unchecked = 0

    /// The number of bytes that have come.
    package var count: Int64 { hasher.count }

    init(_ directory: AssetDirectory, _ hash: AssetHash, size: Int64, file: PosixFile, path: URL) throws {
        self.directory = directory
        self.hash = hash
        self.size = size
        self.file = file
        self.path = path
        // A file that is too long must have wrong bytes.
        if try file.size > size { try file.truncate(to: 0) }
        while true {
            let part = try file.read(at: hasher.count, upTo: AssetDirectory.bufferSize)
            guard !part.isEmpty else { return }
            part.withUnsafeBytes { hasher.update($0) }
        }
    }

    deinit {
        // Keeps no empty file.
        if hasher.count == 0, !isFinished, (try? file.isAt(path.path)) == true { unlink(path.path) }
    }

    /// Appends the next bytes.
    ///
    /// - Throws: ``RecordStoreError``: `noSpace`, also when less than ``AssetDirectory/reserve`` would be left, because
    ///   others write to the same disk; `assetUnwritable`.
    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        unchecked += bytes.count
        if unchecked >= AssetDirectory.bufferSize {
            try directory.checkRoom(for: Int64(bytes.count))
            unchecked = 0
        }
        try directory.understandingWrites { try file.write(bytes, at: hasher.count) }
        hasher.update(bytes)
    }

    /// Makes the file durable, and gives it its name.
    ///
    /// - Returns: false when its bytes do not have the hash; it then discards them.
    package func finish() throws -> Bool {
        isFinished = true
        var used = AssetHasher()
        swap(&used, &hasher)
        guard used.count == size, used.finish() == hash else {
            unlink(path.path)
            return false
        }
        try directory.understandingWrites {
            try file.synchronize()
            try directory.publish(path, as: hash)
        }
        return true
    }
}
