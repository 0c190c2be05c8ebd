import HTTPTypes
import Hummingbird

/// Tells browsers what a page of the scorebook never does: it takes in nothing from elsewhere, runs no script but its own
/// file, is shown in no frame, and tells no other server where a reader comes from.
struct SecurityHeaders: RouterMiddleware {
    typealias Context = PageContext

    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "manifest-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    ].joined(separator: "; ")

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = Self.policy
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        // Without any referrer, browsers do not say either where a form comes from.
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.frameOptions] = "DENY"
        response.headers[.openerPolicy] = "same-origin"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }
}

extension HTTPField.Name {
    /// Tells a browser to delete what it keeps of the page.
    static let clearSiteData = known("Clear-Site-Data")
    fileprivate static let referrerPolicy = known("Referrer-Policy")
    fileprivate static let frameOptions = known("X-Frame-Options")
    fileprivate static let openerPolicy = known("Cross-Origin-Opener-Policy")
    fileprivate static let resourcePolicy = known("Cross-Origin-Resource-Policy")

    private static func known(_ name: String) -> Self {
        guard let field = Self(name) else { preconditionFailure("\(name) is a name of a header") }
        return field
    }
}
