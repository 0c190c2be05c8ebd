import Foundation
import Synchronization

/// A file that a user named, while it is written: in the end it has all of what it is to have, or is as it was.
///
/// What is written goes into a file beside it, which takes its name once it is complete and durable. A link is followed,
/// and what is no regular file, a pipe say, is written to as it is. All calls block.
final class OutputFile: Sendable {
    private enum Kind {
        /// Written as `partial`, becomes `path`.
        case regular(path: String, partial: String)
        case special
    }

    /// As the user wrote it.
    private let name: String
    private let kind: Kind
    private let replaces: Bool
    private let descriptor: Int32
    private let isFinished = Mutex(false)

    /// - Parameters:
    ///   - replaces: whether a file that is there may be replaced.
    ///   - store: what must not be written over.
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
            // A link that leads nowhere is there, too.
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
            // Whoever could not read the old file cannot read the new one.
            if isThere { fchmod(descriptor, status.st_mode & 0o777) }
        case S_IFDIR:
            throw Self.refused(name, "it is a directory")
        default:
            kind = .special
            descriptor = open(name, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failed(name) }
        }
    }

    /// Whether a file is what a store consists of, as that of another store: nobody means to replace it by an export.
    private static func isPrecious(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        let start = (try? file.read(upToCount: 32)) ?? Data()
        return start.starts(with: ScorebookDatabase.header)
            || start.starts(with: "scorebook-peer identity ".utf8)
    }

    deinit {
        if !isFinished.withLock({ $0 }) { close(descriptor) }
        if case .regular(_, let partial) = kind { unlink(partial) }
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

    /// Makes what was written durable, and gives it the file's name. To be called once, at the end.
    ///
    /// - Throws: ``ScorebookError`` `notWritable`; the file is as it was then.
    func finish() throws {
        if case .regular = kind {
            guard fsync(descriptor) == 0 else { throw Self.failed(name) }
        }
        isFinished.withLock { $0 = true }
        // Some file systems say only now that there is no room.
        guard close(descriptor) == 0 else { throw Self.failed(name) }
        guard case .regular(let path, let partial) = kind else { return }
        try replaces ? rename(partial, to: path) : link(partial, to: path)
        // The new name is durable when the directory is.
        let directory = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private func rename(_ partial: String, to path: String) throws {
        guard Foundation.rename(partial, path) == 0 else { throw Self.failed(name) }
    }

    /// As `rename`, but never in place of a file that somebody has put there meanwhile.
    private func link(_ partial: String, to path: String) throws {
        if Foundation.link(partial, path) == 0 { return }
        // File systems of memory sticks have no links.
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

    /// Says what the system has just said.
    private static func failed(_ name: String) -> ScorebookError {
        switch errno {
        case ENOENT, ENOTDIR: refused(name, "its directory is not there")
        case EACCES, EPERM, EROFS: refused(name, "its permissions do not allow it")
        case ENOSPC, EDQUOT, EFBIG: refused(name, "there is no room for it")
        default: refused(name, String(cString: strerror(errno)).lowercased())
        }
    }
}
