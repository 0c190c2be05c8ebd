import Hummingbird

/// Answers only requests that were sent to this machine by its own name, and forms that come from a page of its own.
///
/// A page from elsewhere whose name suddenly leads to this machine (DNS rebinding) sends its own name. A page from elsewhere
/// that sends a form here (cross-site request forgery) says where it comes from, in `Origin`.
struct HostCheck: RouterMiddleware {
    typealias Context = PageContext

    private static let names: Set<String> = ["127.0.0.1", "localhost", "[::1]"]

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        guard let host = request.head.authority, Self.names.contains(Self.name(host)) else {
            throw PageError(.misdirectedRequest, "This page answers to 127.0.0.1 and localhost alone.")
        }
        if request.method != .get, request.method != .head {
            guard let origin = request.headers[.origin], origin == "http://\(host)" else {
                throw PageError(.forbidden, "This was not sent from a page of this scorebook.")
            }
        }
        return try await next(request, context)
    }

    /// Returns a host without its port.
    private static func name(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host.lowercased() }
        return host[..<colon].lowercased()
    }
}
