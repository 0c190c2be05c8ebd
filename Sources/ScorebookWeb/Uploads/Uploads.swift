import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import Synchronization

/// Takes forms with files from browsers: a few at a time, and none that is larger than the limit.
///
/// ```swift
/// try await uploads.receive(request) { form in
///     guard let file = form.file("picture") else { throw PageError(.unprocessableContent, "No file was chosen.") }
///     return try await scorebook.storePicture(URL(fileURLWithPath: file.path))
/// }
/// ```
final class Uploads: Sendable {
    /// The maximum number of bytes of a form with its files.
    static let maximumSize = 200_000_000
    /// How many forms may come at a time: each takes its room on the disk.
    static let maximumCount = 4

    private let running = Mutex(0)

    /// Reads the form of a request, and deletes its files when `body` is done with them.
    ///
    /// - Parameter limit: the maximum number of bytes of the whole.
    /// - Throws: ``PageError`` with a sentence for whoever sent it; what `body` throws.
    func receive<Value>(
        _ request: Request, limit: Int = Uploads.maximumSize, _ body: (UploadedForm) async throws -> Value
    ) async throws -> Value {
        // Whoever says in advance that it is too large is told before anything is read.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw PageError(MultipartError.tooLarge(limit: limit))
        }
        try enter()
        defer { running.withLock { $0 -= 1 } }
        let directory = try UploadDirectories.make()
        let form: UploadedForm
        do {
            let boundary = try MultipartHead.boundary(contentType: request.headers[.contentType])
            form = try await MultipartReader.read(
                request.body, boundary: boundary, into: directory, limit: limit)
        } catch {
            await Self.remove(directory)
            guard let error = error as? MultipartError else { throw error }
            throw PageError(error)
        }
        do {
            let value = try await body(form)
            await Self.remove(directory)
            return value
        } catch {
            await Self.remove(directory)
            throw error
        }
    }

    private func enter() throws {
        let count = running.withLock { count in
            count += 1
            return count
        }
        guard count <= Self.maximumCount else {
            running.withLock { $0 -= 1 }
            throw PageError(.serviceUnavailable, "Others send files just now. Try it again in a minute.")
        }
    }

    /// Removes a directory of ``UploadDirectories``.
    static func remove(_ directory: URL) async {
        // The pool does nothing for a task that is cancelled, as that of a browser that has gone.
        await Task {
            _ = try? await NIOThreadPool.singleton.runIfActive { UploadDirectories.remove(directory) }
        }.value
    }
}

extension PageError {
    init(_ error: MultipartError) {
        switch error {
        case .tooLarge(let limit):
            self.init(
                .contentTooLarge, "That is more than \(limit / 1_000_000) MB, the most that this page takes.")
        case .cannotStore:
            self.init(
                HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"),
                "This machine has no room for the file: its directory for temporary files is full, or cannot be written."
            )
        case .noForm:
            self.init(.unsupportedMediaType, "This form comes without its files.")
        case .headTooLarge, .tooManyParts, .textTooLarge, .malformed, .incomplete:
            self.init(
                .badRequest, "The file did not come whole. Nothing of it was taken.",
                hint: "Send it again.")
        }
    }
}
