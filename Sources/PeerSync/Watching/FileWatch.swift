import Dispatch
import Foundation
import Synchronization

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
    package let changes = Signal()
    /// The time after a change in which further changes share one element.
    private static let pause = DispatchTimeInterval.milliseconds(2)
    // Any thread may use Dispatch's sources, but on Linux their type does not say so.
    private let sources: [any DispatchSourceProtocol]

    deinit {
        for source in sources { source.cancel() }
        changes.finish()
    }

    /// Calls `handle` on the queue when something has happened, and then looks away for the pause.
    private static func observe(
        _ source: any DispatchSourceProtocol, on queue: DispatchQueue, handle: @escaping @Sendable () -> Void
    ) {
        nonisolated(unsafe) let source = source
        source.setEventHandler {
            handle()
            // A large transaction writes page after page, and each page is an event.
            source.suspend()
            queue.asyncAfter(deadline: .now() + pause) { source.resume() }
        }
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
            let queue = DispatchQueue(label: "PeerSync.file-watch")
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            Self.observe(source, on: queue) { [changes] in
                if Self.drain(descriptor, name) { changes.raise() }
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
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
            // The log stays while a connection is open, and this process has one. Without one, commits change the file alone.
            let log = [file + "-wal"].filter(FileManager.default.fileExists(atPath:))
            self.init(([file] + log).map(Self.kept), closesThem: false)
        }

        /// - Returns: nil when the folder is not there.
        package convenience init?(folder path: String) {
            self.init([Self.opened(path)], closesThem: true)
        }

        /// The files of all databases that were watched. They stay open: a process that closes any descriptor of a file loses
        /// all its locks on the file, also those that SQLite holds.
        private static let descriptors = Mutex<[FileIdentity: Int32]>([:])

        /// - Returns: a descriptor that stays open for the life of the process; negative if there is none.
        private static func kept(_ path: String) -> Int32 {
            descriptors.withLock { kept in
                var status = stat()
                if stat(path, &status) == 0, let known = kept[FileIdentity(status)] { return known }
                let descriptor = opened(path)
                if fstat(descriptor, &status) == 0 { kept[FileIdentity(status)] = descriptor }
                return descriptor
            }
        }

        private static func opened(_ path: String) -> Int32 { open(path, O_EVTONLY | O_CLOEXEC) }

        /// - Returns: nil when one of the descriptors is negative.
        private init?(_ descriptors: [Int32], closesThem: Bool) {
            let queue = DispatchQueue(label: "PeerSync.file-watch")
            var sources: [any DispatchSourceFileSystemObject] = []
            for descriptor in descriptors where descriptor >= 0 {
                let source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename], queue: queue)
                Self.observe(source, on: queue) { [changes] in changes.raise() }
                if closesThem { source.setCancelHandler { close(descriptor) } }
                source.activate()
                sources.append(source)
            }
            self.sources = sources
            guard sources.count == descriptors.count else { return nil }
        }
    #endif
}
