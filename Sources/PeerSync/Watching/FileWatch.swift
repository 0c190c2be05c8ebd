import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A watch for writes of any process to the files of a SQLite database: a commit changes the database file or the
/// write-ahead log beside it.
///
/// It uses inotify on Linux, and kqueue on macOS. It says that something happened, not what. On a network file system
/// it may say nothing at all.
final class FileWatch: @unchecked Sendable {
    /// An element after each change. Changes that nobody has awaited yet share one element.
    let changes: AsyncStream<Void>
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
        init?(database path: String) {
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            let name = file.lastPathComponent
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            // This watches the directory, because the log comes and goes.
            let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
            guard inotify_add_watch(descriptor, file.deletingLastPathComponent().path, mask) >= 0 else {
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
        /// - Returns: whether an event is about the database, whose files are called `name` and `name-…`.
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
        init?(database path: String) {
            let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let queue = DispatchQueue(label: "PeerSync.file-watch")
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            var sources: [any DispatchSourceFileSystemObject] = []
            // The log stays while a connection is open, and this process has one.
            for watched in [file, file + "-wal"] {
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
            guard sources.count == 2 else { return nil }
        }
    #endif
}
