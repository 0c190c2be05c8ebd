import Foundation
import NIOCore
import NIOPosix

/// A connection within this process, through two pipes of the system.
enum Pipe {
    /// Makes a connection.
    ///
    /// - Throws: ``PeerSyncError`` `unreachable` when the system has no more pipes.
    /// - Returns: its two ends.
    static func make() async throws -> (near: ByteChannel, far: ByteChannel) {
        let (forth, back) = (try Ends(), try Ends())
        do {
            let near = try await end(reading: back.takeOutput(), writing: forth.takeInput())
            do {
                return (near, try await end(reading: forth.takeOutput(), writing: back.takeInput()))
            } catch {
                try? await near.executeThenClose { _, _ in }
                throw error
            }
        } catch {
            throw PeerSyncError(
                .unreachable, "the system makes no pipe: \(ConnectionFailure.reason(error))")
        }
    }

    /// The two ends of a pipe: what goes in at the input comes out at the output. Closes those that nobody has taken.
    private final class Ends {
        private var output: CInt?
        private var input: CInt?

        init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else {
                throw PeerSyncError(
                    .unreachable, "the system has no more pipes: \(String(cString: strerror(errno)))")
            }
            // A program that this one starts must not keep the connection open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (output, input) = (ends[0], ends[1])
        }

        func takeOutput() -> CInt {
            defer { output = nil }
            return output!
        }

        func takeInput() -> CInt {
            defer { input = nil }
            return input!
        }

        deinit { for end in [output, input].compactMap({ $0 }) { close(end) } }
    }

    private static func end(reading input: CInt, writing output: CInt) async throws -> ByteChannel {
        try await NIOPipeBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .takingOwnershipOfDescriptors(input: input, output: output) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrapPlainly(channel) }
            }
    }
}
