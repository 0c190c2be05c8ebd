import Foundation
import Scorebook

/// A file with a secret, which must be its owner's alone.
enum SecretFile {
    /// The most bytes that such a file has.
    private static let greatestSize = 1 << 20

    /// Reads a file. Checks it after opening it, so that the checked file is the one that it reads.
    ///
    /// - Parameter isMissingAllowed: whether there may be no such file; then the result is nil.
    /// - Throws: ``Failure`` if there is none, if others can read it, or if it cannot be read.
    static func content(of path: String, isMissingAllowed: Bool = false) throws -> Data? {
        let shown = Display.printable(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT, isMissingAllowed { return nil }
            throw Failure(
                .noInput, "the file \(shown) cannot be read: \(String(cString: strerror(errno)).lowercased())"
            )
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.dataError, "\(shown) is no file")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(
                .configuration, "others can read \(shown), which holds a secret",
                hint: Hint.filled("run: chmod 600 FILE", ["FILE": path]))
        }
        guard status.st_size <= greatestSize else { throw Failure(.dataError, "\(shown) is too large") }
        return try file.read(upToCount: greatestSize) ?? Data()
    }
}
