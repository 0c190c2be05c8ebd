import Hummingbird

/// Answers only requests that were sent to this machine by a name of its own, and forms that come from a page of its own.
///
/// A page from elsewhere whose name suddenly leads to this machine (DNS rebinding) sends its own name. A page from elsewhere
/// that sends a form here (cross-site request forgery) says where it comes from, in `Origin`.
struct HostCheck: RouterMiddleware {
    typealias Context = PageContext

    let address: @Sendable () -> PageAddress

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        let address = address()
        guard let host = request.head.authority, address.answers(to: host) else {
            throw PageError(
                .misdirectedRequest,
                address.network == nil
                    ? "This page answers to 127.0.0.1 and localhost alone."
                    : "This page answers to the names and addresses of its own machine alone.")
        }
        if request.method != .get, request.method != .head {
            guard let origin = request.headers[.origin], origin == "\(address.scheme)://\(host)" else {
                throw PageError(.forbidden, "This was not sent from a page of this scorebook.")
            }
        }
        return try await next(request, context)
    }
}
