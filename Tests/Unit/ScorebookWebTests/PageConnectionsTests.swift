import NIOCore
import NIOPosix
import Testing

@testable import ScorebookWeb

/// Which connections to the page end when there are too many.
@Suite(.timeLimit(.minutes(5))) struct PageConnectionsTests {
    /// Hands a connection to the test, once the page has given it a place.
    private final class Accepted: ChannelInboundHandler, Sendable {
        typealias InboundIn = NIOAny

        private let channels: AsyncStream<any Channel>.Continuation

        init(_ channels: AsyncStream<any Channel>.Continuation) { self.channels = channels }

        func channelActive(context: ChannelHandlerContext) {
            channels.yield(context.channel)
            context.fireChannelActive()
        }
    }

    /// Lends what opens a connection, and returns its end at the page.
    private func withPage(
        _ connections: PageConnections = PageConnections(),
        _ body: (() async throws -> any Channel) async throws -> Void
    ) async throws {
        let (channels, accepted) = AsyncStream<any Channel>.makeStream()
        let group = MultiThreadedEventLoopGroup.singleton
        let page = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        [RequestDeadline(connections), Accepted(accepted)])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = page.localAddress?.port ?? 0
        var ends: [any Channel] = []
        var arrivals = channels.makeAsyncIterator()
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body {
                    ends.append(
                        try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port).get())
                    let arrived = await arrivals.next()
                    return try #require(arrived)
                })
        } catch { result = .failure(error) }
        for end in ends { try? await end.close() }
        try await page.close()
        try result.get()
    }

    /// Tells a connection something, and waits until it has heard it.
    private func tell(_ channel: any Channel, _ event: any Sendable) async throws {
        channel.pipeline.fireUserInboundEventTriggered(event)
        try await channel.eventLoop.submit {}.get()
    }

    @Test func aBrowserThatIsLetInHasAFewConnectionsForItself() async throws {
        try await withPage { open in
            let other = try await open()
            try await tell(other, RequestDeadline.BrowserIsKnown(id: "other"))
            var own: [any Channel] = []
            for _ in 0..<PageConnections.maximumOfBrowser + 2 {
                let channel = try await open()
                own.append(channel)
                // Each request says it again.
                for _ in 0..<2 { try await tell(channel, RequestDeadline.BrowserIsKnown(id: "own")) }
            }
            for channel in own.prefix(2) { try await channel.closeFuture.get() }
            #expect(own.dropFirst(2).allSatisfy { $0.isActive })
            #expect(other.isActive)
        }
    }

    @Test func aBrowserThatWasShutOutHasThePlacesOfAStranger() async throws {
        try await withPage { open in
            var own: [any Channel] = []
            let excess = 3
            for _ in 0..<PageConnections.maximumUnknownOfAddress + excess {
                let channel = try await open()
                own.append(channel)
                try await tell(channel, RequestDeadline.BrowserIsKnown(id: "own"))
            }
            #expect(own.allSatisfy { $0.isActive })
            for channel in own { try await tell(channel, RequestDeadline.BrowserIsUnknown()) }
            for channel in own.prefix(excess) { try await channel.closeFuture.get() }
            let staying = own.dropFirst(excess)
            // What asks once more takes no second place.
            for channel in staying { try await tell(channel, RequestDeadline.BrowserIsUnknown()) }
            #expect(staying.allSatisfy { $0.isActive })
        }
    }

    @Test func aBrowserThatIsShutOutLosesThePlacesWithoutAnotherRequest() async throws {
        let connections = PageConnections()
        try await withPage(connections) { open in
            let other = try await open()
            try await tell(other, RequestDeadline.BrowserIsKnown(id: "other"))
            var own: [any Channel] = []
            for _ in 0..<PageConnections.maximumUnknownOfAddress + 3 {
                let channel = try await open()
                own.append(channel)
                try await tell(channel, RequestDeadline.BrowserIsKnown(id: "own"))
            }
            connections.forget("own")
            // First each connection hears of it, then those end that have no place.
            for _ in 0..<2 {
                for channel in own { try await channel.eventLoop.submit {}.get() }
            }
            #expect(own.filter { $0.isActive }.count == PageConnections.maximumUnknownOfAddress)
            #expect(other.isActive)
        }
    }
}
