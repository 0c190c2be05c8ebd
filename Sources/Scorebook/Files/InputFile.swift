import Foundation

/// Input from regular files that a user named. All calls block.
enum InputFile {
    private static let partSize = 1 << 20

    /// Opens a file. Refuses a pipe: the program could wait for its input for ever.
    ///
    /// - Throws: ``ScorebookError`` `unreadableFile`.
    static func open(_ name: String) throws -> (handle: FileHandle, size: Int64) {
        var status = stat()
        guard stat(name, &status) == 0 else { throw failed(name) }
        guard let refusal = refusal(status.st_mode) else {
            let descriptor = Foundation.open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { throw failed(name) }
            return (FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), Int64(status.st_size))
        }
        throw refused(name, refusal)
    }

    /// Reads a whole file.
    ///
    /// - Throws: ``ScorebookError`` `unreadableFile`, also when it has more than `limit` bytes.
    static func read(_ name: String, upTo limit: Int) throws -> Data {
        let (handle, size) = try open(name)
        var data = Data()
        // The size of some files, such as those of /proc, is unknown before they are read.
        while data.count <= limit, size <= limit {
            let part: Data?
            do { part = try handle.readPart(upTo: partSize) } catch { throw failed(name) }
            guard let part, !part.isEmpty else { return data }
            data.append(part)
        }
        throw refused(name, "it has more than \(limit >> 20) MiB")
    }

    private static func refusal(_ mode: mode_t) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "it is a directory"
        case S_IFIFO: "it is a pipe; save what comes out of it in a file first"
        default: "it is a device, not a file"
        }
    }

    private static func refused(_ name: String, _ why: String) -> ScorebookError {
        ScorebookError(.unreadableFile, "\(Display.printable(name)) cannot be read: \(why)")
    }

    /// Makes the error for the current `errno`.
    private static func failed(_ name: String) -> ScorebookError {
        switch errno {
        case ENOENT, ENOTDIR: refused(name, "there is no such file")
        case EACCES, EPERM: refused(name, "its permissions do not allow it")
        default: refused(name, String(cString: strerror(errno)).lowercased())
        }
    }
}
