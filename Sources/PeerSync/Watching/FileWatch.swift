import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A watch for writes of any process to the files of a SQLite database, or in a folder. A commit changes the database file or
/// the write-ahead log beside it.
///
/// It uses inotify on Linux, and kqueue on macOS. It says that something happened, not what. On a network file system
/// it may say nothing at all.
package final class FileWatch: @unchecked Sendable {
    /// An element after each change. Changes that nobody has awaited yet share one element.
    package let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// The time after a change in which further changes share one element.
    private static let pause = DispatchTimeInterval.milliseconds(2)
    // Any thread may use Dispatch's sources, but on Linux their type does not say so.
    private let sources: [any DispatchSourceProtocol]

    deinit {
        for source in sources { source.cancel() }
        continuation.finish()
    }

    #if canImport(Glibc)
        /// - Returns: nil when the system gives no watch, for example because too many are in use.
        convenience init?(database path: String) {
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            // This watches the directory, because the log comes and goes.
            self.init(file.deletingLastPathComponent().path, filesFrom: file.lastPathComponent)
        }

        /// - Returns: nil when the folder is not there, or the system gives no watch.
        package convenience init?(folder path: String) {
            self.init(path, filesFrom: "")
        }

        /// - Parameter name: the beginning of the names of the files that count.
        private init?(_ directory: String, filesFrom name: String) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
            guard inotify_add_watch(descriptor, directory, mask) >= 0 else {
                close(descriptor)
                return nil
            }
            let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let queue = DispatchQueue(label: "PeerSync.file-watch")
            nonisolated(unsafe) let source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: queue)
            source.setEventHandler {
                if Self.drain(descriptor, name) { continuation.yield() }
                // A large transaction writes page after page, and each page is an event.
                source.suspend()
                queue.asyncAfter(deadline: .now() + Self.pause) { source.resume() }
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
            self.changes = changes
            self.continuation = continuation
            sources = [source]
        }

        /// Reads all events that wait.
        ///
        /// - Returns: whether an event is about a file whose name begins with `name`, as those of a database do.
        private static func drain(_ descriptor: Int32, _ name: String) -> Bool {
            var isOurs = false
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return isOurs }
                var offset = 0
                // The header: watch, mask, cookie and the length of the name, four bytes each.
                let header = MemoryLayout<inotify_event>.size
                while offset + header <= count {
                    let event = buffer.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    }
                    let end = min(offset + header + Int(event.len), count)
                    let changed = buffer[offset + header..<end].prefix { $0 != 0 }
                    isOurs =
                        isOurs || event.mask & UInt32(IN_Q_OVERFLOW) != 0
                        || String(decoding: changed, as: UTF8.self).hasPrefix(name)
                    offset = end
                }
            }
        }
    #else
        /// - Returns: nil when the files cannot be opened.
        convenience init?(database path: String) {
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            // The log stays while a connection is open, and this process has one.
            self.init(all: [file, file + "-wal"])
        }

        /// - Returns: nil when the folder is not there.
        package convenience init?(folder path: String) {
            self.init(all: [path])
        }

        private init?(all paths: [String]) {
            let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let queue = DispatchQueue(label: "PeerSync.file-watch")
            var sources: [any DispatchSourceFileSystemObject] = []
            for watched in paths {
                let descriptor = open(watched, O_EVTONLY)
                guard descriptor >= 0 else { continue }
                let source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename], queue: queue)
                source.setEventHandler { continuation.yield() }
                source.setCancelHandler { close(descriptor) }
                source.activate()
                sources.append(source)
            }
            self.changes = changes
            self.continuation = continuation
            self.sources = sources
            guard sources.count == paths.count else { return nil }
        }
    #endif
}
