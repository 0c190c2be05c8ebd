import NIOCore
import NIOPosix
import Testing

@testable import PeerSync

/// A connection is closed when the other side is silent, or does not take what it is sent, and it is said which.
@Suite(.timeLimit(.minutes(5))) struct WatchdogTests {
    @Test func silenceClosesTheConnection() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .zero, writing: .seconds(3600))
            #expect(!watchdog.hasFired)
            await watchdog.run()
            #expect(watchdog.cause == .silence)
            try await channel.closeFuture.get()
        }
    }

    @Test func whatIsExpectedSoonerEndsSooner() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .seconds(3600), writing: .seconds(3600))
            watchdog.expect(within: .zero)
            await watchdog.run()
            #expect(watchdog.cause == .silence)
        }
    }

    /// A side that does not read is not silent.
    @Test func whoDoesNotTakeWhatItIsSentBlocks() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .seconds(3600), writing: .zero)
            try await watchdog.writing { await watchdog.run() }
            #expect(watchdog.cause == .blockage)
        }
    }

    /// One that is silent while something is written to it is.
    @Test func silenceEndsAlsoWhatIsBeingWritten() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .zero, writing: .seconds(3600))
            try await watchdog.writing { await watchdog.run() }
            #expect(watchdog.cause == .silence)
        }
    }

    @Test func whatIsWrittenIsNotWaitedForAnyMore() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .milliseconds(100), writing: .zero)
            try await watchdog.writing {}
            await watchdog.run()
            #expect(watchdog.cause == .silence)
        }
    }

    @Test func whoIsCancelledClosesNothing() async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .seconds(3600), writing: .seconds(3600))
            let run = Task { await watchdog.run() }
            run.cancel()
            await run.value
            #expect(!watchdog.hasFired && channel.isActive)
        }
    }
}

/// Lends an open channel, on which nothing happens.
func withListener(_ body: (any Channel) async throws -> Void) async throws {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .bind(host: "127.0.0.1", port: 0).get()
    do {
        try await body(channel)
    } catch {
        try? await channel.close()
        throw error
    }
    // It may be closed already.
    try? await channel.close()
}
