import NIOCore
import PeerSync
import Synchronization

/// The connections whose browser has not shown yet that it was let in. When there are too many, some of them end, so that there is room
/// for those who know the scorebook.
final class UnknownConnections: Sendable {
    private struct Connection: Equatable {
        let channel: any Channel

        static func == (left: Connection, right: Connection) -> Bool { left.channel === right.channel }
    }

    /// Fewer than the server takes.
    private let places = Mutex(StrangerPlaces<Connection>(limit: 128))

    /// Notes a connection, and ends the one that has to go for it.
    func enter(_ channel: any Channel) {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let leaving = places.withLock { $0.enter(Connection(channel: channel), from: address) }
        leaving?.channel.close(promise: nil)
    }

    /// Forgets a connection: its browser has been let in, or it has ended.
    func leave(_ channel: any Channel) {
        _ = places.withLock { $0.leave(Connection(channel: channel)) }
    }
}
