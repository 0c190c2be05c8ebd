import Foundation
import Hummingbird

/// Lets in browsers that have been let in before, or that come by the link.
struct Entrance: RouterMiddleware {
    typealias Context = PageContext

    /// The name of the cookie. A browser sends the cookies of all servers of a machine to each of them, whatever the port.
    let cookie: String
    let link: LinkToken
    let browsers: Browsers
    let pages: Pages

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.reader = Reader(languages: request.headers[.acceptLanguage])
        if request.uri.path == "/enter" { return try await enter(request, context) }
        guard let secret = request.cookies[cookie]?.value, try await browsers.find(secret) != nil else {
            throw PageError(
                .unauthorized, "This browser does not know this scorebook yet.",
                hint: "Open the link that scorebook-peer prints in the terminal.")
        }
        return try await next(request, context)
    }

    private func enter(_ request: Request, _ context: PageContext) async throws -> Response {
        guard let key = request.query("key"), link.matches(key) else {
            throw PageError(
                .unauthorized, "This link is not valid any more.",
                hint: "scorebook-peer prints a new one in the terminal when it starts.")
        }
        let secret = try await browsers.add(name: request.headers[.userAgent] ?? "")
        // Not a redirection: where the link was opened from another page, the browser would not send the cookie on it.
        var response = try pages.render("entered", title: "Welcome", [:], context)
        response.setCookie(
            Cookie(
                name: cookie, value: secret, maxAge: Int(Browsers.lifetime), path: "/", httpOnly: true,
                sameSite: .strict))
        return response
    }
}
