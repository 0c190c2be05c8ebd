import Foundation
import Synchronization

/// The files of this process that are not complete yet.
public enum PartialFiles {
    private static let paths = Mutex<Set<String>>([])

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) {
        unlink(path)
        paths.withLock { _ = $0.remove(path) }
    }

    /// Removes them. A process that ends while it writes calls this, so that it leaves nothing behind.
    public static func removeAll() {
        paths.withLock { for path in $0 { unlink(path) } }
    }
}
