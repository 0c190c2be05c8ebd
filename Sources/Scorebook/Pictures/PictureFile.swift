import Foundation
import PeerSync

/// Functions for the files of pictures on their way into and out of a scorebook. All calls block.
public enum PictureFile {
    private static let bufferSize = 1 << 20

    /// Refuses a file that is no picture, before it is copied.
    ///
    /// - Parameter name: what errors call the file; by default its path.
    /// - Throws: ``ScorebookError``: `unreadableFile`, `invalidFile`.
    public static func check(_ file: URL, name: String? = nil) throws {
        let path = name ?? Self.name(file)
        let (handle, size) = try InputFile.open(file.relativePath)
        guard size > 0 else { throw ScorebookError(.invalidFile, "\(path) is empty") }
        guard size <= Asset.maximumSize else {
            throw ScorebookError(.invalidFile, "\(path) is too large: a picture may have at most 2 GiB")
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

    /// Copies a picture to a path that the user chose, whole or not at all.
    ///
    /// Follows a link. Writes straight into a file that is not regular, such as a pipe.
    ///
    /// - Parameters:
    ///   - replaces: whether to replace an existing file.
    ///   - store: the files that the copy must not overwrite.
    /// - Throws: ``ScorebookError`` `notWritable`. Nothing has changed then.
    public static func save(
        _ source: URL, to target: URL, replaces: Bool, sparing store: StoreFiles
    ) throws {
        let file = try OutputFile(target.relativePath, replaces: replaces, sparing: store)
        try forEachPart(of: source) { try file.write($0) }
        try file.finish()
    }

    /// Passes the bytes of a file to `body`, in order.
    public static func forEachPart(of file: URL, _ body: (Data) throws -> Void) throws {
        guard let handle = FileHandle(forReadingAtPath: file.path) else {
            throw ScorebookError(.unreadableFile, "\(file.path) cannot be read: \(systemReason)")
        }
        defer { try? handle.close() }
        while let part = try handle.readPart(upTo: bufferSize), !part.isEmpty { try body(part) }
    }

    /// Returns the path as the user wrote it.
    private static func name(_ file: URL) -> String { Display.printable(file.relativePath) }

    private static var systemReason: String { String(cString: strerror(errno)).lowercased() }
}
