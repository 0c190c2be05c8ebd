import NIOCore
import Synchronization

/// The connections of a listener, from their arrival until the other side proves that it is paired.
final class Strangers: Sendable {
    private struct State {
        var places = StrangerPlaces<Stranger>()
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Gives a connection a place, and closes the one that has to go.
    func enter(_ channel: any Channel) -> Stranger {
        let stranger = Stranger(self, channel)
        let leaving = state.withLock { state in
            state.isClosed ? stranger : state.places.enter(stranger, from: stranger.address)
        }
        leaving?.remove()
        return stranger
    }

    /// Closes the connections that have a place, and all that come from now on.
    func close() {
        let remaining = state.withLock { state in
            state.isClosed = true
            return state.places.removeAll()
        }
        for stranger in remaining { stranger.remove() }
    }

    /// A connection whose other side may be anybody.
    final class Stranger: Sendable, Equatable {
        enum State {
            case unknown
            /// The other side has proved that it is paired, or the connection has ended.
            case known
            /// Another connection took the place, and this one was closed.
            case removed
        }

        let address: String
        private let strangers: Strangers
        private let channel: any Channel
        private let current = Mutex(State.unknown)

        fileprivate init(_ strangers: Strangers, _ channel: any Channel) {
            self.strangers = strangers
            self.channel = channel
            address = channel.remoteAddress?.ipAddress.map(NetworkAddress.plain) ?? "a machine"
        }

        var state: State { current.withLock { $0 } }

        /// Begins to read what the other side sends.
        ///
        /// - Throws: ``PeerSyncError`` (`interrupted`) if the connection was closed meanwhile.
        func connection() async throws -> ByteChannel {
            do {
                return try await channel.eventLoop.submit { [channel] in
                    let connection = try SocketOptions.wrap(channel)
                    try channel.syncOptions?.setOption(.autoRead, value: true)
                    return connection
                }.get()
            } catch {
                throw PeerSyncError(.interrupted, "\(address) closed the connection at once")
            }
        }

        /// Gives the place back, if the connection has one.
        func leave() {
            let isFirst = strangers.state.withLock { $0.places.leave(self) }
            if isFirst { current.withLock { $0 = .known } }
        }

        fileprivate func remove() {
            current.withLock { $0 = .removed }
            channel.close(promise: nil)
        }

        static func == (one: Stranger, other: Stranger) -> Bool { one === other }
    }
}
