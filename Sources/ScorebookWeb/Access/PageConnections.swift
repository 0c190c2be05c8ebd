import NIOCore
import PeerSync
import Synchronization

/// The connections to the page. Those whose browser has not shown that it is let in have few places, and each browser that is let in has a
/// few for itself. When there are too many, some of them end: so nobody keeps those out who know the scorebook.
final class PageConnections: Sendable {
    /// How many connections there may be at a time. Further ones wait.
    static let maximum = 500
    /// How many of them may be of browsers that have not shown that they are let in.
    static let maximumUnknown = 128
    /// How many of those may come from one address.
    static let maximumUnknownOfAddress = 16
    /// How many one browser may have. A browser opens about six to one server.
    static let maximumOfBrowser = 32

    private struct Connection: Equatable {
        let channel: any Channel

        static func == (left: Connection, right: Connection) -> Bool { left.channel === right.channel }
    }

    private struct Places {
        var unknown = StrangerPlaces<Connection>(
            limit: PageConnections.maximumUnknown, limitPerAddress: PageConnections.maximumUnknownOfAddress)
        /// In the order in which they were found to be known.
        var known: [(connection: Connection, browser: Browsers.Browser.ID)] = []

        mutating func leave(_ connection: Connection) {
            unknown.leave(connection)
            known.removeAll { $0.connection == connection }
        }

        /// - Returns: the connection that has to go.
        mutating func enter(_ connection: Connection, for browser: Browsers.Browser.ID) -> Connection? {
            known.append((connection, browser))
            guard known.count(where: { $0.browser == browser }) > PageConnections.maximumOfBrowser else {
                return nil
            }
            return known.firstIndex { $0.browser == browser }.map { known.remove(at: $0).connection }
        }
    }

    private let places = Mutex(Places())

    /// Gives a connection its place, in the place of another one that it had, and ends the connection that has to go for it.
    ///
    /// - Parameter browser: the browser that has shown on it that it is let in; nil if none has.
    func enter(_ channel: any Channel, for browser: Browsers.Browser.ID?) {
        let connection = Connection(channel: channel)
        let address = channel.remoteAddress?.ipAddress ?? ""
        let leaving = places.withLock { places in
            places.leave(connection)
            return if let browser {
                places.enter(connection, for: browser)
            } else {
                places.unknown.enter(connection, from: address)
            }
        }
        leaving?.channel.close(promise: nil)
    }

    /// Tells the connections of a browser that it was shut out: they take places of those whose browser is not let in.
    func forget(_ browser: Browsers.Browser.ID) {
        let channels = places.withLock { places in
            places.known.filter { $0.browser == browser }.map { $0.connection.channel }
        }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(RequestDeadline.BrowserIsUnknown())
        }
    }

    /// Forgets a connection that has ended.
    func leave(_ channel: any Channel) {
        places.withLock { $0.leave(Connection(channel: channel)) }
    }
}
