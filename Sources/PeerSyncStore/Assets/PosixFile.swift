import Foundation

/// An open file. Its calls block, so use it on threads that may block.
package final class PosixFile: @unchecked Sendable {
    // Sendable: the descriptor never changes, and any thread may make the calls that take it.
    let descriptor: Int32

    /// Opens a file, or a folder.
    ///
    /// - Parameters:
    ///   - path: its path. Nothing is opened through a link in its last part.
    ///   - folder: the open folder in which it is, if the path is a name there.
    /// - Throws: ``PosixError``.
    package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600, in folder: PosixFile? = nil) throws {
        descriptor = openat(folder?.descriptor ?? AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw PosixError() }
    }

    /// Opens a new file that has lost its name already, so that it goes with this process.
    ///
    /// - Throws: ``PosixError``.
    static func unnamed(in directory: URL) throws -> PosixFile {
        let path = directory.appendingPathComponent(".\(UUID().uuidString)").path
        let file = try PosixFile(path, O_RDWR | O_CREAT | O_EXCL)
        guard unlink(path) == 0 else { throw PosixError() }
        return file
    }

    deinit { close(descriptor) }

    /// Reads up to `count` bytes from an offset; fewer only at the end of the file.
    package func read(at offset: Int64, upTo count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let part = pread(
                    descriptor, buffer.baseAddress! + initialized, count - initialized,
                    off_t(offset) + off_t(initialized))
                if part < 0, errno == EINTR { continue }
                guard part >= 0 else { throw PosixError() }
                guard part > 0 else { return }
                initialized += part
            }
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var written = 0
        while written < bytes.count {
            let part = pwrite(
                descriptor, bytes.baseAddress! + written, bytes.count - written,
                off_t(offset) + off_t(written))
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw PosixError() }
            written += part
        }
    }

    package var size: Int64 {
        get throws { try Int64(status().st_size) }
    }

    package func status() throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PosixError() }
        return status
    }

    /// Whether the file is still the one at a path.
    func isAt(_ path: String) throws -> Bool {
        var found = stat()
        guard lstat(path, &found) == 0 else { return false }
        let own = try status()
        return own.st_ino == found.st_ino && own.st_dev == found.st_dev
    }

    func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw PosixError() }
    }

    /// Makes all writes durable.
    package func synchronize() throws {
        guard Self.synchronize(descriptor) else { throw PosixError() }
    }

    /// Makes all writes to an open file durable.
    ///
    /// - Returns: false when that failed; `errno` says why.
    package static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // On Darwin, fsync alone leaves the data in the drive's cache.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Locks the file against all other processes; returns false when another one holds it.
    func lockIfFree() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
}

extension stat {
    /// Nanoseconds since 1970.
    var modified: Int64 {
        #if canImport(Darwin)
            let time = st_mtimespec
        #else
            let time = st_mtim
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    package var modificationDate: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }
}
