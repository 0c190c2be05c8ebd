import Foundation
import PeerSyncChannel
import PeerSyncStore

/// The file that holds an identity: a line of text with the secret key in hexadecimal, which only its owner can read.
///
/// The text that this reads or writes lies in memory that is erased afterwards.
struct IdentityFile {
    let url: URL

    private static let header = Array("scorebook-peer identity 1 ".utf8)
    /// More than the line with a few blanks at its end.
    private static let greatestSize = 256

    /// Reads the key in the file; nil when there is no file.
    ///
    /// This follows a symbolic link, and checks the file after opening it, so that the checked file is the one that it
    /// reads.
    ///
    /// - Throws: ``PeerSyncError`` `unsafeIdentity`, `foreignIdentity`, `invalidIdentity`, `storeUnusable`.
    func read() throws -> KeyPair? {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        let size = try check(descriptor)
        guard size > Self.header.count, size <= Self.greatestSize else { throw noKey }
        let text = try SecretBytes(count: size) { memory in
            guard Foundation.read(descriptor, memory, size) == size else { throw noKey }
        }
        let secret = text.withUnsafeBytes { bytes -> SecretBytes? in
            guard bytes.starts(with: Self.header) else { return nil }
            var digits = bytes.dropFirst(Self.header.count)
            while let last = digits.last, [0x0A, 0x0D, 0x20].contains(last) { digits.removeLast() }
            return SecretBytes(hexadecimal: digits)
        }
        guard let secret, let keyPair = try? KeyPair(secretKey: secret) else { throw noKey }
        return keyPair
    }

    /// Checks the owner and the mode of the open file.
    ///
    /// - Returns: how many bytes it has.
    private func check(_ descriptor: Int32) throws -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw noKey }
        guard status.st_mode & 0o077 == 0 else {
            throw PeerSyncError(
                .unsafeIdentity, "others can read \(url.path), which holds this machine's secret key",
                path: url.path)
        }
        // The superuser may read any file, and may have to work on another user's store.
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            throw PeerSyncError(
                .foreignIdentity,
                "\(url.path), which holds this machine's secret key, belongs to another user, who can read it"
            )
        }
        return Int(status.st_size)
    }

    /// Writes a key to a file that does not exist yet.
    ///
    /// - Returns: false, and changes nothing, when the file exists.
    func create(_ keyPair: KeyPair) throws -> Bool {
        let new = try write(keyPair)
        defer { unlink(new) }
        // link() makes the whole file appear or nothing, and never replaces a file.
        guard link(new, url.path) == 0 else {
            if errno == EEXIST { return false }
            throw failure("write")
        }
        syncDirectory()
        return true
    }

    /// Replaces the key in the file.
    func replace(by keyPair: KeyPair) throws {
        let new = try write(keyPair)
        guard rename(new, url.path) == 0 else {
            let error = failure("write")
            unlink(new)
            throw error
        }
        syncDirectory()
    }

    /// Writes a key to a new file with a random name.
    ///
    /// - Returns: the path of the file.
    private func write(_ keyPair: KeyPair) throws -> String {
        let path = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).key").path
        // O_EXCL and the mode at creation: the key is never readable by others, and never replaces another.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write") }
        defer { close(descriptor) }
        let line = keyPair.secretKey.hexadecimal(after: Self.header, before: [0x0A])
        let isWritten = line.withUnsafeBytes { bytes in
            Foundation.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
        }
        guard isWritten, PosixFile.synchronize(descriptor) else {
            let error = failure("write")
            unlink(path)
            throw error
        }
        return path
    }

    /// Makes the file's name durable: a database without its key would belong to no machine.
    private func syncDirectory() {
        let descriptor = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = PosixFile.synchronize(descriptor)
        close(descriptor)
    }

    private func failure(_ verb: String) -> PeerSyncError {
        PeerSyncError(.storeUnusable, "cannot \(verb) \(url.path): \(String(cString: strerror(errno)))")
    }

    private var noKey: PeerSyncError {
        PeerSyncError(
            .invalidIdentity,
            "\(url.path) is not an identity key; restore it from a backup, or move it away to get a new identity"
        )
    }
}
