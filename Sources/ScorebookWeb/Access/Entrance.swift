import Foundation
import Hummingbird

/// Lets in browsers that have been let in before, or that come by a link, and keeps guests from what is not for them.
struct Entrance: RouterMiddleware {
    typealias Context = PageContext

    /// The first parts of the paths that guests do not see: a code that is shown there, or a file, gives more than they may do.
    static let closedToGuests: Set<String> = ["machines", "machine", "browsers", "files"]

    /// The name of the cookie. A browser sends the cookies of all servers of a machine to each of them, whatever the port.
    let cookie: String
    let links: EntryLinks
    let browsers: Browsers
    let pages: Pages
    /// Whether browsers send the cookie over TLS alone.
    let isSecure: Bool

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.reader = Reader(languages: request.headers[.acceptLanguage])
        if request.uri.path == "/enter" {
            context.noteStranger()
            return try await enter(request, context)
        }
        let secret = request.cookies[cookie]?.value
        guard let secret, let browser = try await browsers.find(secret) else {
            context.noteStranger()
            // With a cookie it knew the scorebook once.
            throw PageError(
                .unauthorized,
                secret == nil
                    ? "This browser does not know this scorebook yet."
                    : "This browser is not let in any more: it was shut out, or its time is over.",
                hint:
                    "Open the link that scorebook-peer prints when it starts, or one from the page Browsers of a browser that is let in.",
                clearsCache: secret != nil)
        }
        context.letIn(browser)
        if browser.isGuest { try checkGuest(request) }
        return try await next(request, context)
    }

    private func checkGuest(_ request: Request) throws {
        guard request.method == .get || request.method == .head else {
            throw PageError(.forbidden, "Guests can look at everything here, and change nothing.")
        }
        if Self.isClosedToGuests(request.uri.path) {
            throw PageError(.forbidden, "This page is not for guests.")
        }
    }

    /// Whether a path, as it comes in a request, leads to a page that guests do not see.
    ///
    /// Goes by bytes: a mark behind a slash, which a path may have in per cent, makes one `Character` with it.
    static func isClosedToGuests(_ path: String) -> Bool {
        let bytes = (path.removingPercentEncoding ?? path).utf8
        guard let first = bytes.split(separator: UInt8(ascii: "/")).first else { return false }
        return closedToGuests.contains(String(decoding: first, as: UTF8.self).lowercased())
    }

    // MARK: Entering

    private struct EnterForm: Decodable { let key: String }

    private func enter(_ request: Request, _ context: PageContext) async throws -> Response {
        if request.method == .post {
            let form = try await request.decode(as: EnterForm.self, context: context)
            guard let rights = links.take(form.key) else { throw Self.invalid }
            var response = pages.redirect("/")
            response.setCookie(try await newCookie(request, rights))
            return response
        }
        guard let key = request.query("key") else { throw Self.invalid }
        if context.isLocal, links.isOwn(key) {
            // Not a redirection: where the link was opened from another page, the browser would not send the cookie on it.
            var response = try pages.render(
                "entered", title: "Welcome", ["time": browsers.lifetimeText], context)
            response.setCookie(try await newCookie(request, .all))
            return response
        }
        // What only looks at links, as some messengers do, presses no button, and so does not use it up.
        guard let rights = links.find(key) else { throw Self.invalid }
        return try pages.render(
            "enter", title: "Welcome",
            ["key": key, "isForGuest": rights == .guest, "time": browsers.lifetimeText], context)
    }

    private static let invalid = PageError(
        .unauthorized, "This link is not valid any more.",
        hint: "The page Browsers makes a new one, and scorebook-peer prints one when it starts.")

    private func newCookie(_ request: Request, _ rights: BrowserRights) async throws -> Cookie {
        let secret = try await browsers.add(name: request.headers[.userAgent] ?? "", rights)
        return Cookie(
            name: cookie, value: secret, maxAge: Int(browsers.lifetime), path: "/", secure: isSecure,
            httpOnly: true,
            sameSite: .strict)
    }
}
