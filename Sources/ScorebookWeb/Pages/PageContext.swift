import Foundation
import Hummingbird

/// What the handlers know of a request beside it.
struct PageContext: RequestContext {
    /// The maximum number of bytes of a form.
    static let maximumFormSize = 262_144

    var coreContext: CoreRequestContextStorage
    /// How the reader writes dates and numbers.
    var reader = Reader()
    /// The line that says what the form before did, see ``Notice``; nil if there was none.
    var notice: [String: any Sendable]?
    /// The browser that asks; nil for one that was not let in.
    var browser: Browsers.Browser?
    /// Whether the request comes from this machine itself.
    let isLocal: Bool

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        let address = source.channel.remoteAddress?.ipAddress ?? ""
        isLocal = address.hasPrefix("127.") || address == "::1"
    }

    var maxUploadSize: Int { Self.maximumFormSize }
    var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }
}
