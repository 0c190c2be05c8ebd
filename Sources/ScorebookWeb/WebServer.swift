import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Scorebook
import ServiceLifecycle

/// The page of a scorebook: serves it to browsers over HTTP.
///
/// ```swift
/// let server = WebServer(scorebook, machines) { link in print("open \(link) in a browser") }
/// try await ServiceGroup(services: [server], logger: logger).run()
/// ```
///
/// It takes connections of this machine alone. A browser gets in by the link that the server tells when it listens, and is
/// known by a cookie from then on.
public final class WebServer: Service {
    /// The port on which the page is served unless the caller names another one.
    public static let defaultPort = 7480
    /// How many connections there may be at a time. Further ones wait.
    static let maximumConnections = 500

    private let scorebook: ScorebookStore
    private let machines: PageMachines
    private let port: Int
    private let logger: Logger
    private let onListening: @Sendable (URL) -> Void

    /// - Parameters:
    ///   - scorebook: what the page shows and changes.
    ///   - machines: what the pages about machines need.
    ///   - port: the port to listen on; 0 asks for a free one.
    ///   - logger: takes what helps to find a fault.
    ///   - onListening: called when the server takes connections, with the link that lets a browser in. Whoever knows the link
    ///     can do everything with the scorebook.
    public init(
        _ scorebook: ScorebookStore, _ machines: PageMachines, port: Int = WebServer.defaultPort,
        logger: Logger = Logger(label: "ScorebookWeb", factory: { _ in SwiftLogNoOpLogHandler() }),
        onListening: @escaping @Sendable (URL) -> Void
    ) {
        self.scorebook = scorebook
        self.machines = machines
        self.port = port
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves the page until the task is cancelled, or the service group shuts down gracefully.
    ///
    /// - Throws: ``WebServerError`` `cannotListen`; errors of SQLite.
    public func run() async throws {
        let browsers = try await Browsers(scorebook.records.database)
        let link = LinkToken()
        let updates = LiveUpdates(scorebook)
        let tools = MachineTools(machines) { updates.tell() }
        let pages = try Pages(scorebook, tools)
        let router = Router(context: PageContext.self)
        router.addMiddleware {
            SecurityHeaders()
            ErrorPages(pages: pages)
            HostCheck()
            StaticFiles()
            Entrance(
                cookie: "scorebook-\(scorebook.records.replica)", link: link, browsers: browsers, pages: pages
            )
        }
        pages.addRoutes(to: router)
        router.get("changes") { [updates] _, _ in updates.response() }
        let server = Application(
            router: router,
            server: .http1(
                configuration: .init(
                    // Somebody who sends a request bit by bit keeps no connection for ever.
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100))),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: nil,
                availableConnectionsDelegate: .maximum(Self.maximumConnections, logger: logger)),
            onServerRunning: { [onListening] channel in
                guard let port = channel.localAddress?.port else { return }
                onListening(link.url(port: port))
            },
            logger: logger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await updates.run() }
                group.addTask { try await server.run() }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as IOError {
            throw WebServerError(.cannotListen(port: port), underlying: error)
        }
    }
}

/// What keeps the page from being served.
public struct WebServerError: Error, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Equatable {
        /// Another program has the port, or nobody may take it.
        case cannotListen(port: Int)
    }

    public let code: Code
    /// What the system says.
    public let underlying: any Error

    init(_ code: Code, underlying: any Error) {
        self.code = code
        self.underlying = underlying
    }

    public var description: String {
        switch code {
        case .cannotListen(let port): "the page cannot be served on port \(port): \(underlying)"
        }
    }
}
