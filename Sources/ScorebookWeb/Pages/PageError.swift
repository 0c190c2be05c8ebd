import HTTPTypes
import Hummingbird
import PeerSync
import Scorebook

/// What a browser cannot have, in a sentence for whoever looks at it.
struct PageError: Error {
    let status: HTTPResponse.Status
    let message: String
    /// What helps; nil if the message says all.
    let hint: String?
    /// Whether the browser is to delete the pictures that it keeps. It has not to delete the scores that wait in it.
    let clearsCache: Bool

    init(
        _ status: HTTPResponse.Status, _ message: String, hint: String? = nil, clearsCache: Bool = false
    ) {
        self.status = status
        self.message = message
        self.hint = hint
        self.clearsCache = clearsCache
    }

    init(_ error: ScorebookError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .notFound: .notFound
            case .invalidValue, .ambiguous, .otherZone, .invalidFile, .unreadableFile: .unprocessableContent
            case .readOnly: .forbidden
            case .notDeleted: .conflict
            default: .internalServerError
            }
        // A hint may name commands, which a page has none of.
        self.init(status, Self.sentence(error.message))
    }

    init(_ error: RecordStoreError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .noSuchPeer, .noSuchZone: .notFound
            case .ambiguous, .invalidValue, .sharedZone: .unprocessableContent
            case .zonesChanged: .conflict
            default: .internalServerError
            }
        self.init(status, Self.sentence(error.message))
    }

    /// Returns a message with a capital at its beginning and a full stop at its end.
    static func sentence(_ message: String) -> String {
        let text = message.prefix(1).uppercased() + message.dropFirst()
        return text.last.map { ".!?".contains($0) } == true ? text : text + "."
    }
}

/// Answers every error with a page that says it in a sentence. Forms that the script sends get the sentence alone.
struct ErrorPages: RouterMiddleware {
    typealias Context = PageContext

    let pages: Pages

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as PageError {
            return try response(error, request, context)
        } catch let error as ScorebookError {
            return try response(PageError(error), request, context)
        } catch let error as RecordStoreError {
            return try response(PageError(error), request, context)
        } catch let error where error is DecodingError || error is URLEncodedFormError {
            return try response(
                PageError(
                    .badRequest, "This form lacks something, or has something that it should not have."),
                request, context)
        } catch let error as any HTTPResponseError {
            return try response(
                PageError(error.status, Self.sentence(error.status)), request, context)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            context.logger.error("\(request.method) \(request.uri.path) fails: \(error)")
            return try response(
                PageError(
                    .internalServerError, "The scorebook cannot do this now.",
                    hint: "Nothing was lost. Try it again; scorebook-peer doctor says more."),
                request, context)
        }
    }

    private func response(_ error: PageError, _ request: Request, _ context: PageContext) throws -> Response {
        var response =
            if request.wantsJSON {
                try pages.json(["message": error.message], error.status)
            } else {
                try pages.render(
                    "error", title: "Sorry", ["message": error.message, "hint": error.hint.shown], context,
                    error.status)
            }
        if error.clearsCache { response.headers[.clearSiteData] = "\"cache\"" }
        return response
    }

    private static func sentence(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .notFound: "There is no such page."
        case .contentTooLarge: "That is more than this page takes at once."
        default: "This cannot be done (\(status.code) \(status.reasonPhrase))."
        }
    }
}
