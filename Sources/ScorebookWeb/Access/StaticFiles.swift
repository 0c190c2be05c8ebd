import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page that are the same for everybody. They are in the program itself.
///
/// Whoever may not see the scorebook gets them, too, so that the page that says so looks like the others.
struct StaticFiles: RouterMiddleware {
    typealias Context = PageContext

    private static let files: [String: (type: String, bytes: ByteBuffer)] = [
        "/page.css": ("text/css; charset=utf-8", ByteBuffer(bytes: PackageResources.page_css)),
        "/page.js": ("text/javascript; charset=utf-8", ByteBuffer(bytes: PackageResources.page_js)),
        "/icon.svg": ("image/svg+xml", ByteBuffer(bytes: PackageResources.icon_svg)),
        // For home screens that take no SVG.
        "/icon-180.png": ("image/png", ByteBuffer(bytes: PackageResources.icon_180_png)),
        "/icon-512.png": ("image/png", ByteBuffer(bytes: PackageResources.icon_512_png)),
        "/manifest.webmanifest": (
            "application/manifest+json", ByteBuffer(bytes: PackageResources.manifest_webmanifest)
        ),
    ]

    func handle(
        _ request: Request, context: PageContext,
        next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get, let file = Self.files[request.uri.path] else {
            return try await next(request, context)
        }
        return Response(
            status: .ok,
            headers: [.contentType: file.type, .cacheControl: "max-age=60"],
            body: ResponseBody(byteBuffer: file.bytes))
    }
}
