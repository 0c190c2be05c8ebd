import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends a connection whose request has not arrived as a whole some time after its head: somebody who sends a form bit by bit
/// keeps no connection for ever. Whoever has not been let in has less time, and fewer connections.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    /// What a connection hears when its browser has shown that it was let in.
    struct BrowserIsKnown: Sendable {}

    /// Long enough for the form that a link leads to.
    private static let time: TimeAmount = .seconds(20)
    /// Long enough for a large picture over a slow network.
    private static let timeOfKnown: TimeAmount = .minutes(5)

    private let unknown: UnknownConnections
    private var isKnown = false
    private var end: Scheduled<Void>?

    init(_ unknown: UnknownConnections) {
        self.unknown = unknown
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { unknown.enter(context.channel) }
    }

    func channelActive(context: ChannelHandlerContext) {
        unknown.enter(context.channel)
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
        guard event is BrowserIsKnown else { return context.fireUserInboundEventTriggered(event) }
        guard !isKnown else { return }
        isKnown = true
        unknown.leave(context.channel)
        // The rest of a request that has already arrived needs no time.
        if end != nil { begin(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        unknown.leave(context.channel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func begin(_ context: ChannelHandlerContext) {
        cancel()
        let time = isKnown ? Self.timeOfKnown : Self.time
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
