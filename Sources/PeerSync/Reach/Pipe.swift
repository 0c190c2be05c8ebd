import Foundation
import NIOCore
import NIOPosix

/// A connection within this process, through two pipes of the system.
enum Pipe {
    /// Makes a connection.
    ///
    /// - Throws: ``PeerSyncError`` `unreachable` when the system has no more pipes.
    /// - Returns: its two ends.
    static func make() async throws -> (ByteChannel, ByteChannel) {
        let forth = try descriptors()
        let back: (output: CInt, input: CInt)
        do { back = try descriptors() } catch {
            close(forth.output)
            close(forth.input)
            throw error
        }
        return (
            try await end(reading: back.output, writing: forth.input),
            try await end(reading: forth.output, writing: back.input)
        )
    }

    /// The two ends of a new pipe: what goes in at `input` comes out at `output`.
    private static func descriptors() throws -> (output: CInt, input: CInt) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PeerSyncError(
                .unreachable, "the system has no more pipes: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }

    private static func end(reading input: CInt, writing output: CInt) async throws -> ByteChannel {
        try await NIOPipeBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .takingOwnershipOfDescriptors(input: input, output: output) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrapPlainly(channel) }
            }
    }
}
