import Foundation
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A namespace for connecting to other machines.
enum Dialing {
    /// Connects to an address.
    ///
    /// Neither connecting nor a name lookup can be cancelled. So when the task is cancelled, or the service shuts
    /// down, this leaves them running, and closes a connection that they still make.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable`; `interrupted` when this side gave up.
    static func connect(to address: PeerAddress, within time: Duration) async throws -> ByteChannel {
        let outcome = FirstOutcome<ByteChannel>()
        let attempt: @Sendable () async -> Void = {
            do {
                let connection = try await dial(address, within: time)
                if !outcome.settle(.success(connection)) {
                    try? await connection.executeThenClose { _, _ in }
                }
            } catch {
                outcome.settle(.failure(error))
            }
        }
        do {
            return try await cancelWhenGracefulShutdown {
                Task { await attempt() }
                return try await outcome.value
            }
        } catch is CancellationError {
            throw PeerSyncError(.interrupted, "stopped before a connection to \(address) was made")
        } catch {
            throw PeerSyncError(.unreachable, "cannot reach \(address): \(ConnectionFailure.reason(error))")
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

/// The outcome that one of several tasks delivers first. The others learn that they are too late.
private final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    /// - Returns: false when another task has settled it before.
    @discardableResult
    func settle(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            switch state {
            case .settled: return (false, nil as CheckedContinuation<Value, any Error>?)
            case .open:
                state = .settled(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .settled(result)
                return (true, continuation)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits for the outcome, which is a `CancellationError` when the waiting task is cancelled first. Only one task
    /// may wait.
    var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let result = state.withLock { state in
                        if case .settled(let result) = state { return result as Result<Value, any Error>? }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                settle(.failure(CancellationError()))
            }
        }
    }
}

/// A short reason why a connection was not made.
enum ConnectionFailure {
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let failure = error.connectionErrors.first { return reason(failure.error) }
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
        default:
            return "the system gave no reason"
        }
    }
}
