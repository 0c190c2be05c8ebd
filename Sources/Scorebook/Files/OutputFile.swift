import Foundation
import Synchronization

/// The output to a file that a user named. In the end the file is complete, or as it was before.
///
/// The bytes go into a partial file beside it, which takes its name once it is complete and durable. This follows a
/// link. It writes straight into a file that is not regular, such as a pipe. All calls block.
final class OutputFile: Sendable {
    private enum Kind {
        /// A file that is written as `partial` and becomes `path`.
        case regular(path: String, partial: String)
        case special
    }

    /// The path as the user wrote it.
    private let name: String
    private let kind: Kind
    private let replaces: Bool
    private let descriptor: Int32
    private let isFinished = Mutex(false)

    /// - Parameters:
    ///   - replaces: whether to replace an existing file.
    ///   - store: the files that the output must not overwrite.
    /// - Throws: ``ScorebookError`` `notWritable`. Nothing has changed then.
    init(_ name: String, replaces: Bool, sparing store: StoreFiles) throws {
        self.name = name
        self.replaces = replaces
        guard !store.contain(name) else {
            throw Self.refused(name, "it belongs to the scorebook itself; choose another place")
        }
        var status = stat()
        let isThere = stat(name, &status) == 0
        switch isThere ? status.st_mode & S_IFMT : S_IFREG {
        case S_IFREG:
            // A link without a target is an existing file too.
            var link = stat()
            guard replaces || lstat(name, &link) != 0 else { throw Self.isThere(name) }
            let path = FilePlace.followingLinks(name)
            guard !Self.isPrecious(path) else {
                throw Self.refused(name, "it is a database or an identity key; choose another place")
            }
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
            let partial = directory.appendingPathComponent("scorebook-peer.\(UUID().uuidString).partial").path
            kind = .regular(path: path, partial: partial)
            descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw Self.failed(name) }
            PartialFiles.add(partial)
            // The new file gets the mode of the old one, so that nobody else can read it.
            if isThere { fchmod(descriptor, status.st_mode & 0o777) }
        case S_IFDIR:
            throw Self.refused(name, "it is a directory")
        default:
            kind = .special
            descriptor = open(name, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failed(name) }
        }
    }

    /// Returns whether a file is the database or the identity key of any store. Nobody wants to replace one by an
    /// export.
    private static func isPrecious(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        let start = (try? file.read(upToCount: 32)) ?? Data()
        return start.starts(with: ScorebookDatabase.header)
            || start.starts(with: "scorebook-peer identity ".utf8)
    }

    deinit {
        if !isFinished.withLock({ $0 }) { close(descriptor) }
        guard case .regular(_, let partial) = kind else { return }
        PartialFiles.remove(partial)
    }

    /// - Throws: ``ScorebookError`` `notWritable`.
    func write(_ bytes: some ContiguousBytes) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.failed(name) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Makes the bytes durable, and gives them the file's name. Call this once, at the end.
    ///
    /// - Throws: ``ScorebookError`` `notWritable`; the file is unchanged then.
    func finish() throws {
        if case .regular = kind {
            guard isDurable() else { throw Self.failed(name) }
        }
        isFinished.withLock { $0 = true }
        // Some file systems report only now that there is no room.
        guard close(descriptor) == 0 else { throw Self.failed(name) }
        guard case .regular(let path, let partial) = kind else { return }
        try replaces ? rename(partial, to: path) : link(partial, to: path)
        // The new name becomes durable with the directory.
        let directory = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    /// Makes the bytes durable, and says whether that went well.
    private func isDurable() -> Bool {
        #if canImport(Darwin)
            // On Darwin, fsync alone leaves the bytes in the drive's cache.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    private func rename(_ partial: String, to path: String) throws {
        guard Foundation.rename(partial, path) == 0 else { throw Self.failed(name) }
    }

    /// Gives the file its name as `rename` does, but never replaces a file that another program has put there
    /// meanwhile.
    private func link(_ partial: String, to path: String) throws {
        if Foundation.link(partial, path) == 0 { return }
        // The file systems of memory sticks have no links.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else {
            throw errno == EEXIST ? Self.isThere(name) : Self.failed(name)
        }
        var status = stat()
        guard lstat(path, &status) != 0 else { throw Self.isThere(name) }
        try rename(partial, to: path)
    }

    // MARK: Errors

    private static func isThere(_ name: String) -> ScorebookError {
        ScorebookError(.notWritable, "\(Display.printable(name)) is there already; --force replaces it")
    }

    static func refused(_ name: String, _ why: String) -> ScorebookError {
        ScorebookError(.notWritable, "\(Display.printable(name)) cannot be written: \(why)")
    }

    /// Makes the error for the current `errno`.
    private static func failed(_ name: String) -> ScorebookError {
        switch errno {
        case ENOENT, ENOTDIR: refused(name, "its directory is not there")
        case EACCES, EPERM, EROFS: refused(name, "its permissions do not allow it")
        case ENOSPC, EDQUOT, EFBIG: refused(name, "there is no room for it")
        default: refused(name, String(cString: strerror(errno)).lowercased())
        }
    }
}
