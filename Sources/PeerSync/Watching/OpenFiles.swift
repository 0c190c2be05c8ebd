import Foundation

/// The files of a database that is open: the database itself, its write-ahead log, and the index of the log.
///
/// A connection goes on with the files that it has opened, also when they were removed or replaced. What it writes then is
/// nowhere when it closes, and what others write goes to other files. SQLite changes and truncates these files, but as
/// long as anybody has the database open it removes none.
struct OpenFiles: Sendable {
    /// One of them is not at its path any more.
    struct Loss: Error {
        let path: String
    }

    /// What a file is, whatever it is called.
    private struct Identity: Sendable, Equatable {
        let device: UInt64
        let number: UInt64
    }

    private enum Presence: Equatable {
        case there(Identity)
        case gone
        /// The system does not say, as when the disk fails. Then whoever reads or writes hears of it.
        case unknown

        init(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                self = [ENOENT, ENOTDIR].contains(errno) ? .gone : .unknown
                return
            }
            self = .there(Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)))
        }
    }

    private let files: [(path: String, identity: Identity)]
    private let log: String

    /// Looks at the files of a database that is open, and was used.
    ///
    /// - Returns: nil for a database that has no file.
    init?(database path: String) {
        guard case .there = Presence(path) else { return nil }
        // SQLite follows links, and puts the others beside what it finds.
        let beside = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        log = beside + "-wal"
        files = [path, log, beside + "-shm"].compactMap { path in
            guard case .there(let identity) = Presence(path) else { return nil }
            return (path, identity)
        }
    }

    /// The first file that was removed or replaced since it was looked at first.
    var loss: Loss? {
        for (path, identity) in files {
            let presence = Presence(path)
            guard presence == .there(identity) || presence == .unknown else { return Loss(path: path) }
        }
        return nil
    }

    /// The log of a database that has one, when it was gone already when the files were looked at first.
    var earlyLoss: Loss? { files.contains { $0.path == log } ? nil : Loss(path: log) }
}
