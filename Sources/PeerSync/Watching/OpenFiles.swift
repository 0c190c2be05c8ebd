import Foundation

/// The files of an open database: the database itself, its write-ahead log, and the index of the log.
///
/// A connection keeps using the files that it has opened, even when somebody removes or replaces them. What it writes
/// then is lost when it closes, and other programs write to other files. SQLite changes and truncates these files, but
/// removes none while any program has the database open.
struct OpenFiles: Sendable {
    /// A file that is not at its path any more.
    struct Loss: Error {
        let path: String
    }

    private enum Presence: Equatable {
        case there(FileIdentity)
        case gone
        /// The system does not say, for example because the disk fails. Reads and writes then fail by themselves.
        case unknown

        init(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                self = [ENOENT, ENOTDIR].contains(errno) ? .gone : .unknown
                return
            }
            self = .there(FileIdentity(status))
        }
    }

    private let files: [(path: String, identity: FileIdentity)]
    private let log: String

    /// Notes the files of an open database that was used before.
    ///
    /// - Returns: nil for a database that has no file.
    init?(database path: String) {
        guard case .there = Presence(path) else { return nil }
        // SQLite follows links, and puts the other files beside the target.
        let beside = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        log = beside + "-wal"
        files = [path, log, beside + "-shm"].compactMap { path in
            guard case .there(let identity) = Presence(path) else { return nil }
            return (path, identity)
        }
    }

    /// The first file that somebody has removed or replaced since ``init(database:)``.
    var loss: Loss? {
        for (path, identity) in files {
            let presence = Presence(path)
            guard presence == .there(identity) || presence == .unknown else { return Loss(path: path) }
        }
        return nil
    }

    /// The log, when the database should have one, and it was gone already at ``init(database:)``.
    var earlyLoss: Loss? { files.contains { $0.path == log } ? nil : Loss(path: log) }
}

/// Which file it is, whatever its name.
struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        // macOS has negative numbers of devices.
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
    }
}
