import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends a connection whose request has not arrived as a whole some time after its head: somebody who sends a form bit by bit
/// keeps no connection for ever. Whoever is not let in has less time, and fewer connections.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    /// What a connection hears when its browser has shown that it is let in.
    struct BrowserIsKnown: Sendable {
        let id: Browsers.Browser.ID
    }

    /// What a connection hears when a request has not shown that: it came without a proof, or the browser was shut out.
    struct BrowserIsUnknown: Sendable {}

    /// Long enough for the form that a link leads to.
    private static let time: TimeAmount = .seconds(20)
    /// Long enough for a large picture over a slow network.
    private static let timeOfKnown: TimeAmount = .minutes(5)

    private let connections: PageConnections
    /// The browser that has shown that it is let in; nil if none has.
    private var browser: Browsers.Browser.ID?
    private var end: Scheduled<Void>?

    init(_ connections: PageConnections) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { connections.enter(context.channel, for: nil) }
    }

    func channelActive(context: ChannelHandlerContext) {
        connections.enter(context.channel, for: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: begin(context)
        case .body: break
        case .end: cancel()
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as BrowserIsKnown: note(event.id, context)
        case is BrowserIsUnknown: note(nil, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func note(_ browser: Browsers.Browser.ID?, _ context: ChannelHandlerContext) {
        // One that has ended gets no place.
        guard browser != self.browser, context.channel.isActive else { return }
        self.browser = browser
        connections.enter(context.channel, for: browser)
        // The rest of a request that has already arrived needs no time.
        if end != nil { begin(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        connections.leave(context.channel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func begin(_ context: ChannelHandlerContext) {
        cancel()
        let time = browser == nil ? Self.time : Self.timeOfKnown
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        end = context.value.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.value.close(promise: nil)
        }
    }

    private func cancel() {
        end?.cancel()
        end = nil
    }
}
