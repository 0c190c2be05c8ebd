import Foundation
import SyncModel

/// A file that is being received, from the first byte to the last, in order.
///
/// What has come stays when the connection is cut, and the next peer that has the file goes on from there. Used by one
/// task at a time.
package final class IncomingAsset: @unchecked Sendable {
    // Sendable: whoever receives the file calls one method after the other, never two at once.
    private let directory: AssetDirectory
    private let hash: AssetHash
    private let size: Int64
    private let file: PosixFile
    private let path: URL
    private var hasher = AssetHasher()
    private var isFinished = false
    /// Bytes that were written since it was looked whether there is room.
    private var unchecked = 0

    /// How many bytes have come.
    package var count: Int64 { hasher.count }

    init(_ directory: AssetDirectory, _ hash: AssetHash, size: Int64, file: PosixFile, path: URL) throws {
        self.directory = directory
        self.hash = hash
        self.size = size
        self.file = file
        self.path = path
        // More than there should be is nothing to go on from.
        if try file.size > size { try file.truncate(to: 0) }
        while true {
            let part = try file.read(at: hasher.count, upTo: AssetDirectory.bufferSize)
            guard !part.isEmpty else { return }
            part.withUnsafeBytes { hasher.update($0) }
        }
    }

    deinit {
        // Of what nobody had nothing is kept.
        if hasher.count == 0, !isFinished, (try? file.isAt(path.path)) == true { unlink(path.path) }
    }

    /// Appends what has come.
    ///
    /// - Throws: ``RecordStoreError`` `noSpace`, also when less than ``AssetDirectory/reserve`` would be left; others write
    ///   to the same disk. `assetUnwritable`.
    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        unchecked += bytes.count
        if unchecked >= AssetDirectory.bufferSize {
            try directory.checkRoom(for: Int64(bytes.count))
            unchecked = 0
        }
        try directory.understandingWrites { try file.write(bytes, at: hasher.count) }
        hasher.update(bytes)
    }

    /// Gives the file its name, once it is durable.
    ///
    /// - Returns: false when its bytes are not those of the hash; they are thrown away then.
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
