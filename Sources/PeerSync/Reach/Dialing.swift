import Foundation
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A namespace for connecting to other machines.
enum Dialing {
    /// Connects to an address.
    ///
    /// Neither connecting nor a name lookup can be cancelled. So when the task is cancelled, or the service shuts
    /// down, this leaves them running, and closes a connection that they still make.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable`; `interrupted` when this side gave up.
    static func connect(to address: PeerAddress, within time: Duration) async throws -> ByteChannel {
        do {
            return try await connection(to: address, within: time)
        } catch is CancellationError {
            throw PeerSyncError(.interrupted, "stopped before a connection to \(address) was made")
        } catch {
            throw PeerSyncError(.unreachable, "cannot reach \(address): \(ConnectionFailure.reason(error))")
        }
    }

    /// - Throws: the system's or the library's own error, `CancellationError` when this side gave up.
    static func connection(to address: PeerAddress, within time: Duration) async throws -> ByteChannel {
        // The system would take the lower 16 bits, and connect to another port.
        guard PeerAddress.ports.contains(address.port) else { throw ConnectionFailure.NoPort() }
        let outcome = FirstOutcome<ByteChannel>()
        return try await cancelWhenGracefulShutdown {
            Task {
                do {
                    let connection = try await dial(address, within: time)
                    if !outcome.settle(.success(connection)) {
                        try? await connection.executeThenClose { _, _ in }
                    }
                } catch {
                    outcome.settle(.failure(error))
                }
            }
            return try await outcome.value
        }
    }

    private static func dial(_ address: PeerAddress, within time: Duration) async throws -> ByteChannel {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(TimeAmount(time))
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
            }
    }
}

/// A short reason why a connection was not made.
enum ConnectionFailure {
    /// The port of an address is none.
    struct NoPort: Error {}

    /// The error of the first address of a name, if it had any.
    static func cause(_ error: any Error) -> any Error {
        (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
    }

    static func reason(_ error: any Error) -> String {
        switch cause(error) {
        case let error as NIOConnectionError:
            if error.dnsAError != nil || error.dnsAAAAError != nil {
                return "no machine of that name is known"
            }
            return "no address was found"
        case let error as IOError:
            return String(cString: strerror(error.errnoCode)).lowercased()
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof:
            return "the other side closed it"
        case ChannelError.connectTimeout:
            return "nothing answered in time"
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            return "no machine of that name is known"
        case is NoPort:
            return "a port is a number from 1 to 65535"
        default:
            return "the system gave no reason"
        }
    }
}
