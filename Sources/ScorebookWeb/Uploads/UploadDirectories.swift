import Foundation
import Synchronization

/// The temporary directories of this process with files that browsers send and fetch.
public enum UploadDirectories {
    private static let all = Mutex<Set<URL>>([])

    /// Makes a directory that only this user can look into.
    static func make() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "scorebook-upload-\(UUID().uuidString)", isDirectory: true)
        _ = all.withLock { $0.insert(directory) }
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            remove(directory)
            throw error
        }
        return directory
    }

    /// Removes a directory with its files. Blocks.
    static func remove(_ directory: URL) {
        try? FileManager.default.removeItem(at: directory)
        _ = all.withLock { $0.remove(directory) }
    }

    /// Removes them. A process that ends while a browser sends or fetches a file calls this, so that it leaves nothing behind.
    public static func removeAll() {
        all.withLock { for directory in $0 { try? FileManager.default.removeItem(at: directory) } }
    }
}
