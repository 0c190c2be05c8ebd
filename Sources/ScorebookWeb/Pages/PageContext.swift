import Foundation
import Hummingbird
import NIOCore

/// What the handlers know of a request beside it.
struct PageContext: RequestContext {
    /// The maximum number of bytes of a form.
    static let maximumFormSize = 262_144
    /// The same for a browser that was not let in: it sends the secret of a link, and nothing else.
    static let maximumEntrySize = 1024

    var coreContext: CoreRequestContextStorage
    /// How the reader writes dates and numbers.
    var reader = Reader()
    /// The line that says what the form before did, see ``Notice``; nil if there was none.
    var notice: [String: any Sendable]?
    /// The browser that asks; nil for one that was not let in.
    private(set) var browser: Browsers.Browser?
    /// Whether the request comes from this machine itself.
    let isLocal: Bool
    private let connection: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source.channel
        let address = source.channel.remoteAddress?.ipAddress ?? ""
        isLocal = address.hasPrefix("127.") || address == "::1"
    }

    var maxUploadSize: Int { browser == nil ? Self.maximumEntrySize : Self.maximumFormSize }
    var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }

    /// Lets in a browser, and with it the connection by which it asks.
    mutating func letIn(_ browser: Browsers.Browser) {
        self.browser = browser
        connection.pipeline.fireUserInboundEventTriggered(RequestDeadline.BrowserIsKnown(id: browser.id))
    }

    /// Tells the connection that this request is of nobody who is let in.
    func noteStranger() {
        connection.pipeline.fireUserInboundEventTriggered(RequestDeadline.BrowserIsUnknown())
    }
}
