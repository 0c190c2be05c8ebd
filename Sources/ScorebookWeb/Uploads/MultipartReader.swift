import Foundation
import NIOCore
import NIOPosix

/// Reads a form with files while it comes, and puts the files on the disk: no more of them is in memory than came last.
struct MultipartReader {
    /// The maximum number of bytes of a text field.
    static let maximumText = 65_536

    /// Of a form that is too large, this many times its limit are read.
    private static let patience = 10

    /// A directory that is there and empty.
    let directory: URL
    /// The maximum number of bytes of the whole.
    let limit: Int
    private var form = UploadedForm()
    private var part = Part.none

    /// The part that comes now.
    private enum Part {
        case none
        case text(name: String, Data)
        case file(MultipartParser.Head, FileHandle, path: String, size: Int)
    }

    private init(_ directory: URL, _ limit: Int) {
        self.directory = directory
        self.limit = limit
    }

    /// Reads a form. Reads a bad one to its end, too: many browsers look at no answer before they have sent everything.
    ///
    /// - Parameters:
    ///   - boundary: from the header `Content-Type`.
    ///   - directory: a directory for the files. What was read before an error stays in it.
    ///   - limit: the maximum number of bytes of the whole.
    /// - Throws: ``MultipartError``; errors of the body.
    static func read<Body: AsyncSequence>(
        _ body: Body, boundary: String, into directory: URL, limit: Int
    ) async throws -> UploadedForm where Body.Element == ByteBuffer {
        var parser = MultipartParser(boundary: boundary)
        var reader = MultipartReader(directory, limit)
        var size = 0
        var failure: MultipartError?
        for try await bytes in body {
            size += bytes.readableBytes
            if let failure {
                guard size <= patience * limit else { throw failure }
                continue
            }
            do {
                guard size <= limit else { throw MultipartError.tooLarge(limit: limit) }
                parser.append(bytes)
                while let event = try parser.next() { try await reader.take(event) }
            } catch let error as MultipartError {
                failure = error
            }
        }
        if let failure { throw failure }
        try parser.finish()
        return reader.form
    }

    private mutating func take(_ event: MultipartParser.Event) async throws {
        switch (event, part) {
        case (.part(let head), _): part = try begin(head)
        case (.bytes(let bytes), .text(let name, let data)):
            guard data.count + bytes.readableBytes <= Self.maximumText else {
                throw MultipartError.textTooLarge
            }
            part = .text(name: name, data + Data(bytes.readableBytesView))
        case (.bytes(let bytes), .file(let head, let file, let path, let size)):
            do {
                try await NIOThreadPool.singleton.runIfActive {
                    try file.write(contentsOf: bytes.readableBytesView)
                }
            } catch let error where !(error is CancellationError) {
                throw MultipartError.cannotStore
            }
            part = .file(head, file, path: path, size: size + bytes.readableBytes)
        case (.partEnd, .text(let name, let data)):
            guard let text = String(bytes: data, encoding: .utf8) else {
                throw MultipartError.malformed("a text is not in UTF-8")
            }
            form.texts[name] = text
            part = .none
        case (.partEnd, .file(let head, let file, let path, let size)):
            try file.close()
            let name = head.fileName ?? ""
            // A browser sends a field in which nobody chose a file as one without a name.
            if !name.isEmpty || size > 0 {
                form.files.append(
                    UploadedForm.File(
                        field: head.name, name: UploadedForm.safeName(name), contentType: head.contentType,
                        size: size, path: path))
            }
            part = .none
        case (.end, _), (.bytes, .none), (.partEnd, .none): break
        }
    }

    private func begin(_ head: MultipartParser.Head) throws -> Part {
        guard head.fileName != nil else { return .text(name: head.name, Data()) }
        let path = directory.appendingPathComponent(UUID().uuidString).path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MultipartError.cannotStore }
        return .file(head, FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), path: path, size: 0)
    }
}
