import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Scorebook
import ServiceLifecycle
import Synchronization

#if LAN
    import HummingbirdTLS
#endif

/// The page of a scorebook: serves it to browsers over HTTP.
///
/// ```swift
/// let server = WebServer(scorebook, machines) { entry in print("open \(entry.link) in a browser") }
/// try await ServiceGroup(services: [server], logger: logger).run()
/// ```
///
/// Without a ``PageNetwork`` it takes connections of this machine alone. A browser gets in by a link that the server tells when it
/// listens, or that the page makes, and is known by a cookie for twelve hours; with a ``PageNetwork`` for 400 days.
public final class WebServer: Service {
    /// The port on which the page is served unless the caller names another one.
    public static let defaultPort = 7480

    private let scorebook: ScorebookStore
    private let machines: PageMachines
    private let port: Int
    private let logger: Logger
    private let network: PageNetwork?
    private let onListening: @Sendable (Entry) -> Void

    /// How browsers get in.
    public struct Entry: Sendable {
        /// Lets browsers of this machine in, as long as the server runs.
        public let link: URL
        /// Lets one browser of another device in, once; nil where other devices cannot reach the page.
        public let networkLink: URL?
    }

    /// - Parameters:
    ///   - scorebook: what the page shows and changes.
    ///   - machines: what the pages about machines need.
    ///   - port: the port to listen on; 0 asks for a free one.
    ///   - network: lets devices of the network reach the page, over TLS.
    ///   - logger: takes what helps to find a fault.
    ///   - onListening: called when the server takes connections, with the links that let browsers in. Whoever knows one of them
    ///     can do everything with the scorebook.
    public init(
        _ scorebook: ScorebookStore, _ machines: PageMachines, port: Int = WebServer.defaultPort,
        network: PageNetwork? = nil,
        logger: Logger = Logger(label: "ScorebookWeb", factory: { _ in SwiftLogNoOpLogHandler() }),
        onListening: @escaping @Sendable (Entry) -> Void
    ) {
        self.scorebook = scorebook
        self.machines = machines
        self.port = port
        self.network = network
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves the page until the task is cancelled, or the service group shuts down gracefully.
    ///
    /// - Throws: ``WebServerError``; errors of SQLite.
    public func run() async throws {
        let browsers = try await Browsers(scorebook.records.database, isSecure: network != nil)
        let updates = LiveUpdates(scorebook)
        let links = EntryLinks()
        let connections = PageConnections()
        let tools = MachineTools(machines) { updates.tell() }
        let pages = try Pages(scorebook, tools)
        defer { pages.imports.removeAll() }
        // The system picks a free port, and only then the page knows its own address.
        let port = Mutex(port)
        let server = Application(
            router: router(pages, browsers, links, updates, connections) { [network] in
                PageAddress(port: port.withLock { $0 }, network: network)
            },
            server: try http(connections),
            configuration: ApplicationConfiguration(
                address: .hostname(network == nil ? "127.0.0.1" : "0.0.0.0", port: self.port),
                serverName: nil,
                availableConnectionsDelegate: .maximum(PageConnections.maximum, logger: logger)),
            onServerRunning: { [onListening, network] channel in
                guard let bound = channel.localAddress?.port else { return }
                port.withLock { $0 = bound }
                let address = PageAddress(port: bound, network: network)
                onListening(
                    Entry(
                        link: address.ownLink(links.ownSecret),
                        networkLink: network.map { _ in address.link(links.make(for: .all)) }))
            },
            logger: logger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [machines] in
                    await withTaskGroup { telling in
                        telling.addTask { await updates.run() }
                        telling.addTask {
                            for await event in machines.engine.events {
                                // No write to the database tells of a file.
                                if case .assetsReceived = event { updates.tell() }
                            }
                        }
                    }
                }
                group.addTask { try await server.run() }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as IOError {
            throw WebServerError(.cannotListen(port: self.port), underlying: error)
        }
    }

    private func router(
        _ pages: Pages, _ browsers: Browsers, _ links: EntryLinks, _ updates: LiveUpdates,
        _ connections: PageConnections, _ address: @escaping @Sendable () -> PageAddress
    ) -> Router<PageContext> {
        let router = Router(context: PageContext.self)
        router.addMiddleware {
            SecurityHeaders()
            ErrorPages(pages: pages)
            HostCheck(address: address)
            StaticFiles()
            Entrance(
                cookie: "scorebook-\(scorebook.records.replica)", links: links, browsers: browsers,
                pages: pages,
                isSecure: network != nil)
        }
        pages.addRoutes(to: router)
        pages.addBrowsers(to: router, browsers, links, address) { browser in
            connections.forget(browser)
            updates.tell()
        }
        router.get("changes") { _, context in
            let id = context.browser?.id
            return updates.response { try await browsers.isKnown(id) }
        }
        return router
    }

    /// - Throws: ``WebServerError`` `invalidCertificate`.
    private func http(_ connections: PageConnections) throws -> HTTPServerBuilder {
        let plain = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [RequestDeadline(connections)],
                // Somebody who sends the head of a request bit by bit keeps no connection for ever: only a whole one counts.
                idleTimeout: .seconds(20),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
        #if LAN
            if let network { return try .tls(plain, tlsConfiguration: network.configuration) }
        #endif
        return plain
    }
}

/// What keeps the page from being served.
public struct WebServerError: Error, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Equatable {
        /// Another program has the port, or nobody may take it.
        case cannotListen(port: Int)
        /// This program was built without the trait `LAN`, so only this machine can see the page.
        case noTLS
        /// The certificate or its key cannot be used, as the text says.
        case invalidCertificate(String)
    }

    public let code: Code
    /// What the system says, if it says anything.
    public let underlying: (any Error)?

    init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }

    public var description: String {
        switch code {
        case .cannotListen(let port):
            "the page cannot be served on port \(port)" + (underlying.map { ": \($0)" } ?? "")
        case .noTLS: "this program was built without what it takes to serve the page to other devices"
        case .invalidCertificate(let text): "the certificate cannot be used: \(text)"
        }
    }
}
