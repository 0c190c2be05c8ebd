import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends a connection whose request has not arrived as a whole some minutes after its head: somebody who sends a form bit by bit
/// keeps no connection for ever.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    /// Long enough for a large picture over a slow network.
    private static let time: TimeAmount = .minutes(5)

    private var end: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let context = NIOLoopBound(context, eventLoop: context.eventLoop)
            end = context.value.eventLoop.assumeIsolated().scheduleTask(in: Self.time) {
                context.value.close(promise: nil)
            }
        case .body: break
        case .end: cancel()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func cancel() {
        end?.cancel()
        end = nil
    }
}
