import Foundation
import PeerSync
import PeerSyncStore

/// A mailbox in a folder: on a network drive, on a stick, or in a folder that another program carries to other machines.
///
/// An object is a file in a folder of the folder. It gets its name only when it is whole and durable: it is written under a name that begins
/// with a dot, and renamed. ``list(_:)`` takes no notice of files of other programs, and neither removes nor follows links.
///
/// Others may write in the folder, and put a link where a folder of objects was. So the storage opens a folder of objects, and works in what it has
/// opened: behind a link it reads, changes and removes nothing.
///
/// The folder itself must be there. It is never created: where a disk is not mounted, objects would go to the wrong disk.
///
/// A network drive whose server is off may not answer. Each method throws ``MailboxError`` `unreachable` after ten minutes, and ``delete(_:)`` after
/// two; a cancelled task waits no longer. What nobody waits for changes no object any more, unless its last step has begun.
public struct FolderStorage: WatchedMailboxStorage {
    /// The folder.
    public let url: URL

    /// Reads so many bytes of a file from its beginning; tests let it fail.
    var read: @Sendable (PosixFile, Int) throws -> [UInt8] = { try $0.read(at: 0, upTo: $1) }

    /// Comes before the step that changes an object; tests hold it up.
    var willChange: @Sendable () -> Void = {}

    /// The rights of new files and folders, before this user's own mask; tests take some away as a mask does.
    var rights: mode_t = 0o777

    /// How long somebody waits for the system; tests are less patient.
    var patience = Patience()

    struct Patience {
        var usual = Duration.seconds(2 * 60)
        /// What brings or takes an object: the largest, at 300 kbit/s. And a list, which asks for each file in a folder.
        var object = Duration.seconds(10 * 60)
    }

    private let calls: FolderCalls

    /// Names a folder; it may be a link to one.
    public init(at url: URL) {
        self.url = url
        calls = .of(url.path)
    }

    public func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
        try await attempt(.write, in: name.folder, within: patience.object) { checkAwaited in
            let (root, folder) = try make(name.folder)
            let temporary = TemporaryName.new()
            do {
                let file = try PosixFile(
                    temporary, O_WRONLY | O_CREAT | O_EXCL, mode: rights & 0o666, in: folder)
                // All who may read the mailbox's folder may read this, because it is sealed, whatever the usual rights of this user are.
                file.share(try file.status().st_mode | root.st_mode & 0o044, group: root.st_gid)
                try bytes.withUnsafeBytes { try file.write($0, at: 0) }
                try file.synchronize()
                willChange()
                try checkAwaited()
                try folder.rename(temporary, to: name.last)
            } catch {
                try? folder.remove(temporary)
                throw error
            }
            // Some file systems of other machines know no synchronization of directories.
            try? folder.synchronize()
        }
    }

    public func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
        try await attempt(.read, in: name.folder, within: patience.object) { _ in
            let file: PosixFile
            do {
                guard let folder = try open(name.folder) else { return nil }
                file = try PosixFile(name.last, O_RDONLY | O_NONBLOCK, in: folder)
            } catch let error as MailboxError {
                // It is the folder of one machine, and keeps nobody from reading those of others.
                throw MailboxError(.unreadable, error.message, underlying: error)
            } catch let error as PosixError where [ENOENT, ENOTDIR, ELOOP].contains(error.code) {
                return nil
            } catch let error as PosixError where [EACCES, EPERM].contains(error.code) {
                throw MailboxError(
                    .unreadable, "the file \(path(of: name)) cannot be read: \(error)", underlying: error)
            }
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            guard status.st_size <= MailboxLimits.objectSize else {
                throw MailboxError(
                    .unreadable, "the file \(path(of: name)) is larger than any object of a mailbox")
            }
            do {
                return try read(file, Int(status.st_size))
            } catch let error as PosixError where error.code == EIO {
                // Where the disk itself is gone, so is the folder.
                try checkPresence()
                throw MailboxError(
                    .unreadable, "the file \(path(of: name)) cannot be read: \(error)", underlying: error)
            }
        }
    }

    public func list(_ folder: MailboxFolder) async throws -> [MailboxObject] {
        try await attempt(.read, in: folder, within: patience.object) { _ in
            guard let opened = try open(folder) else { return [] }
            return try opened.names().compactMap { name in
                // It may have gone meanwhile.
                guard let status = opened.status(of: name), status.st_mode & S_IFMT == S_IFREG else {
                    return nil
                }
                if TemporaryName.isOne(name) {
                    if Date().timeIntervalSince(status.modificationDate) > TemporaryName.staleAge {
                        try? opened.remove(name)
                    }
                    return nil
                }
                return MailboxObjectName(folder, name).map {
                    MailboxObject(name: $0, size: Int64(status.st_size))
                }
            }
        }
    }

    public func delete(_ name: MailboxObjectName) async throws {
        try await attempt(.write, in: name.folder) { checkAwaited in
            guard let folder = try open(name.folder) else { return }
            willChange()
            try checkAwaited()
            try folder.remove(name.last)
        }
    }

    /// Removes the folder of objects, unless something is in it.
    func removeIfEmpty(_ folder: MailboxFolder) async throws {
        try await attempt(.write, in: folder) { _ in _ = rmdir(path(of: folder)) }
    }

    public func changes() async -> AsyncStream<Void>? {
        // Every news comes with a head.
        let heads = "\(url.path)/heads"
        let begun = try? await patiently { _ in (Self.place(of: heads), FileWatch(folder: heads)) }
        guard case (let place?, let watch?)? = begun else { return nil }
        return AsyncStream {
            for await _ in watch.changes {
                // A disk that went and comes back has another folder, of which this watch says nothing.
                let now = try? await patiently { _ in Self.place(of: heads) }
                return place == now ? () : nil
            }
            return nil
        }
    }

    /// Which folder has a path now; nil for none.
    private static func place(of path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        // macOS has negative numbers of devices.
        return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)]
    }

    // MARK: Paths

    private func path(of folder: MailboxFolder) -> String { "\(url.path)/\(folder)" }
    private func path(of name: MailboxObjectName) -> String { "\(url.path)/\(name)" }

    /// Opens a folder of objects; nil when it is not there.
    ///
    /// - Throws: ``MailboxError`` `invalid` for a link or a file in its place; ``PosixError``.
    private func open(_ folder: MailboxFolder) throws -> PosixFile? {
        do {
            return try PosixFile(path(of: folder), O_RDONLY | O_DIRECTORY)
        } catch let error as PosixError where error.code == ENOENT {
            return nil
        } catch let error as PosixError where [ENOTDIR, ELOOP].contains(error.code) {
            throw MailboxError(
                .invalid, "\(path(of: folder)) is not a folder; somebody has put something else in its place",
                underlying: error)
        }
    }

    /// Makes a folder of objects, unless it is there, and opens it. All who may write in the mailbox's folder may put heads.
    ///
    /// - Returns: the state of the mailbox's folder, and the folder of objects.
    private func make(_ folder: MailboxFolder) throws -> (root: stat, opened: PosixFile) {
        var root = stat()
        guard stat(url.path, &root) == 0 else { throw PosixError() }
        let isNew = mkdir(path(of: folder), rights) == 0
        guard isNew || errno == EEXIST else { throw FolderError(path: url.path, error: PosixError()) }
        guard let opened = try open(folder) else {
            throw MailboxError(.unreachable, "the folder \(path(of: folder)) is not there now")
        }
        let made = try opened.status()
        if isNew, folder == MailboxFormat.heads {
            opened.share(root.st_mode, group: root.st_gid)
        } else if root.st_mode & 0o055 & ~made.st_mode != 0, made.st_uid == geteuid() {
            // Also one that an earlier version has made.
            opened.share(made.st_mode | root.st_mode & 0o055, group: root.st_gid)
        }
        return (root, opened)
    }

    // MARK: Errors

    private enum Purpose { case read, write }

    /// An error of another folder than that of the objects.
    private struct FolderError: Error {
        let path: String
        let error: PosixError
    }

    private func attempt<Value: Sendable>(
        _ purpose: Purpose, in folder: MailboxFolder, within limit: Duration? = nil,
        _ body: @escaping @Sendable (_ checkAwaited: () throws -> Void) throws -> Value
    ) async throws -> Value {
        try await patiently(limit) { checkAwaited in
            do {
                try checkPresence()
                return try body(checkAwaited)
            } catch let error as PosixError {
                throw explained(error, purpose, path(of: folder))
            } catch let error as FolderError {
                throw explained(error.error, purpose, error.path)
            }
        }
    }

    /// Makes calls of the system, and waits for them for a time: the usual one, if none is given.
    ///
    /// - Throws: ``MailboxError`` `unreachable` when the time is over; `CancellationError`; what `body` throws.
    private func patiently<Value: Sendable>(
        _ limit: Duration? = nil,
        _ body: @escaping @Sendable (_ checkAwaited: () throws -> Void) throws -> Value
    ) async throws -> Value {
        let error = MailboxError(.unreachable, "the folder \(url.path) does not answer")
        return try await calls.run(within: limit ?? patience.usual, else: error, body)
    }

    private func checkPresence() throws {
        var status = stat()
        guard stat(url.path, &status) == 0 else {
            throw MailboxError(
                .unreachable, "the folder \(url.path) is not there now", underlying: PosixError())
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw MailboxError(.invalid, "\(url.path) is not a folder")
        }
    }

    private func explained(_ error: PosixError, _ purpose: Purpose, _ path: String) -> MailboxError {
        if error.isOutOfSpace {
            return MailboxError(.full, "there is no room in \(url.path): \(error)", underlying: error)
        }
        switch (error.code, purpose) {
        case (EROFS, _), (EACCES, .write), (EPERM, .write):
            return MailboxError(.readOnly, "\(path) cannot be written: \(error)", underlying: error)
        case (EACCES, .read), (EPERM, .read):
            return MailboxError(.noAccess, "\(path) cannot be read: \(error)", underlying: error)
        default:
            return MailboxError(.unreachable, "\(url.path) cannot be used now: \(error)", underlying: error)
        }
    }
}
