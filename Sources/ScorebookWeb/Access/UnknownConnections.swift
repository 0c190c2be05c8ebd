import NIOCore
import Synchronization

/// The connections whose browser has not shown yet that it was let in. When there are too many, the oldest ones end, so that there
/// is room for those who know the scorebook.
final class UnknownConnections: Sendable {
    /// The maximum number, fewer than the server takes.
    static let limit = 128
    /// The maximum number that come from one address.
    static let limitPerAddress = 16

    private struct Connection {
        let channel: any Channel
        let address: String
    }

    /// In order of arrival.
    private let connections = Mutex<[Connection]>([])

    /// Notes a connection, and ends the one that has to go for it.
    func enter(_ channel: any Channel) {
        let new = Connection(channel: channel, address: channel.remoteAddress?.ipAddress ?? "")
        let leaving = connections.withLock { all -> (any Channel)? in
            let isFull = all.filter { $0.address == new.address }.count >= Self.limitPerAddress
            let place =
                isFull
                ? all.firstIndex { $0.address == new.address }
                : all.count >= Self.limit ? all.startIndex : nil
            defer { all.append(new) }
            return place.map { all.remove(at: $0).channel }
        }
        leaving?.close(promise: nil)
    }

    /// Forgets a connection: its browser has been let in, or it has ended.
    func leave(_ channel: any Channel) {
        connections.withLock { all in all.removeAll { $0.channel === channel } }
    }
}
