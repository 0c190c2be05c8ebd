import Foundation
import PeerSyncModel

/// What leaves the directory: damaged files, and those that nobody needs.
extension AssetDirectory {
    /// Puts a damaged file aside, so that it counts as missing, and the next session fetches it. The directory keeps the
    /// damaged one until an intact one has come.
    ///
    /// Call it after ``isDamaged(_:)``. An intact file would count as missing, too.
    ///
    /// - Throws: ``RecordStoreError``: `assetUnwritable`, also when there is no such file; `noSpace`.
    public func setAside(_ hash: AssetHash) throws {
        try understandingWrites {
            try make(damagedFiles)
            let aside = damagedFiles.appendingPathComponent(hash.description).path
            guard rename(file(hash).path, aside) == 0 else { throw PosixError() }
            // It is kept as long after this moment as other files after their last use.
            utimes(aside, nil)
        }
    }

    /// - Parameter date: a file that somebody has added since then stays.
    /// - Returns: whether the file is gone.
    package func remove(_ hash: AssetHash, untouchedSince date: Date) throws -> Bool {
        try understandingWrites {
            let path = file(hash).path
            guard let touched = (try? PosixFile(path, O_RDONLY).status())?.modificationDate else {
                return true
            }
            guard touched <= date else { return false }
            guard unlink(path) == 0 || errno == ENOENT else { throw PosixError() }
            return true
        }
    }

    /// Removes partly received and partly added files, and damaged ones, that nobody holds or wants, and that nobody has touched
    /// since `date`.
    package func removeLeftovers(untouchedSince date: Date, wanted: Set<AssetHash>) {
        for directory in [incomingFiles, damagedFiles] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] {
                if let hash = AssetHash(hex: name), wanted.contains(hash) { continue }
                let path = directory.appendingPathComponent(name).path
                guard let file = try? PosixFile(path, O_RDWR), file.lockIfFree(),
                    let status = try? file.status()
                else { continue }
                if status.modificationDate < date { unlink(path) }
            }
        }
    }
}
