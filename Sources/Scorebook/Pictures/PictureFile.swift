import Foundation
import RecordStore
import SyncModel

/// Files with pictures, on their way into a scorebook and out of it. All calls block.
public enum PictureFile {
    private static let bufferSize = 1 << 20

    /// Refuses what is no picture, before it is copied.
    ///
    /// - Throws: ``ScorebookError``: `unreadableFile`, `invalidFile`.
    static func check(_ file: URL) throws {
        let path = name(file)
        var status = stat()
        guard stat(file.path, &status) == 0 else {
            throw ScorebookError(
                .unreadableFile,
                errno == ENOENT
                    ? "\(path) cannot be read: there is no such file"
                    : "\(path) cannot be read: \(systemReason)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            throw ScorebookError(
                .unreadableFile,
                "\(path) cannot be read: it is \(isDirectory ? "a directory" : "no regular file")")
        }
        guard status.st_size > 0 else { throw ScorebookError(.invalidFile, "\(path) is empty") }
        guard Int64(status.st_size) <= Asset.maximumSize else {
            throw ScorebookError(.invalidFile, "\(path) is too large: a picture may have at most 2 GiB")
        }
        guard let handle = FileHandle(forReadingAtPath: file.path) else {
            throw ScorebookError(.unreadableFile, "\(path) cannot be read: \(systemReason)")
        }
        defer { try? handle.close() }
        let start = try handle.read(upToCount: MediaType.signatureLength) ?? Data()
        guard MediaType.recognized(start) != nil else { throw notAPicture(path) }
    }

    static func notAPicture(_ path: String) -> ScorebookError {
        ScorebookError(
            .invalidFile,
            "\(path) is not a picture that can be added: JPEG, PNG, GIF, WebP, TIFF, HEIC, HEIF and AVIF can")
    }

    /// Copies a picture to a place of the user's.
    ///
    /// A file that is there already is replaced once the copy is complete; a link is followed, and what is no regular
    /// file, a pipe say, is written to as it is.
    ///
    /// - Parameter replaces: whether a file that is there may be replaced.
    /// - Throws: ``ScorebookError`` `notWritable`. Nothing has changed then.
    public static func save(_ source: URL, to target: URL, replaces: Bool) throws {
        let path = replaces ? target.resolvingSymlinksInPath().path : target.path
        var status = stat()
        guard stat(path, &status) == 0 else { return try create(path, from: source, for: target) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            throw ScorebookError(.notWritable, "\(name(target)) cannot be written: it is a directory")
        case S_IFREG:
            guard replaces else { throw isThere(target) }
            let partial = "\(path).\(UUID().uuidString.prefix(8)).partial"
            try create(partial, from: source, for: target) {
                guard rename(partial, path) == 0 else { throw notWritable(target) }
            }
        default:
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw notWritable(target) }
            try write(source, to: descriptor, for: target)
        }
    }

    /// Makes a file; it is gone again when something fails on the way.
    private static func create(
        _ path: String, from source: URL, for target: URL, finish: () throws -> Void = {}
    ) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw errno == EEXIST ? isThere(target) : notWritable(target) }
        do {
            try write(source, to: descriptor, for: target)
            try finish()
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Closes the descriptor in any case.
    private static func write(_ source: URL, to descriptor: Int32, for target: URL) throws {
        let file = FileHandle(fileDescriptor: descriptor)
        defer { try? file.close() }
        try forEachPart(of: source) { part in
            do {
                try file.write(contentsOf: part)
            } catch {
                let reason = (error as NSError).localizedDescription
                throw ScorebookError(.notWritable, "\(name(target)) cannot be written: \(reason)")
            }
        }
        // Pipes and devices cannot be made durable, and need not be.
        guard fsync(descriptor) == 0 || [EINVAL, ENOTSUP].contains(errno) else { throw notWritable(target) }
    }

    /// Hands over the bytes of a file, in order.
    public static func forEachPart(of file: URL, _ body: (Data) throws -> Void) throws {
        guard let handle = FileHandle(forReadingAtPath: file.path) else {
            throw ScorebookError(.unreadableFile, "\(file.path) cannot be read: \(systemReason)")
        }
        defer { try? handle.close() }
        while let part = try handle.read(upToCount: bufferSize), !part.isEmpty { try body(part) }
    }

    private static func isThere(_ target: URL) -> ScorebookError {
        ScorebookError(.notWritable, "\(name(target)) is there already; --force replaces it")
    }

    private static func notWritable(_ target: URL) -> ScorebookError {
        ScorebookError(
            .notWritable,
            "\(name(target)) cannot be written (\(systemReason)); check that its directory exists")
    }

    /// A file as the user named it.
    private static func name(_ file: URL) -> String { Display.printable(file.relativePath) }

    private static var systemReason: String { String(cString: strerror(errno)).lowercased() }
}
