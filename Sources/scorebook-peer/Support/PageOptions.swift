import ArgumentParser
import Foundation
import PeerSync
import ScorebookWeb

/// The options of the page, for `web` and `listen --web`.
struct PageOptions: ParsableArguments {
    @Flag(
        help: """
            Let other devices of this network see the page, over TLS; each browser has to come by a link that the program \
            or the page shows.
            """)
    var lan = false

    @Option(
        help: ArgumentHelp(
            "With --lan: this certificate (PEM) in place of one that the program makes.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The secret key of the certificate (PEM).", valueName: "file"))
    var key: String?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("give --certificate and --key together")
        }
        guard lan || certificate == nil else { throw ValidationError("--certificate goes with --lan") }
    }

    /// Makes the page of a store.
    ///
    /// - Parameter print: gets how to get in.
    /// - Throws: ``Failure`` when a certificate that was given cannot be used, or none can be made; ``WebServerError`` `noTLS`.
    func server(
        _ store: OpenStore, _ machines: PageMachines, port: Int, isJSON: Bool,
        printing print: @escaping @Sendable (LiveOutput.Item) -> Void
    ) throws -> WebServer {
        let network = try network(store)
        return WebServer(store.scorebook, machines, port: port, network: network) { entry in
            if !isJSON {
                print(.line(Self.text(entry, network)))
            } else if let text = try? Terminal.text(json: Figures(entry, network), compact: true) {
                print(.line(text))
            }
        }
    }

    private func network(_ store: OpenStore) throws -> PageNetwork? {
        guard lan else { return nil }
        guard let certificate, let key else {
            return try OwnCertificate(directory: store.directory).network()
        }
        let network = try PageNetwork(
            certificate: Self.content(certificate), key: Self.content(key), isGiven: true)
        guard network.expires > Date() else {
            let day = network.expires.formatted(.iso8601.year().month().day())
            throw Failure(
                .dataError, "the certificate \(certificate) expired on \(day)", hint: "give a newer one")
        }
        return network
    }

    private static func content(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: (path as NSString).expandingTildeInPath))
        } catch {
            throw Failure(.noInput, "the file \(path) cannot be read")
        }
    }

    private static func text(_ entry: WebServer.Entry, _ network: PageNetwork?) -> String {
        var lines = ["the page is at \(entry.link.absoluteString)"]
        if let network, let link = entry.networkLink?.absoluteString {
            lines.append("one phone gets in within ten minutes at \(link)")
            if Terminal.isOutputATerminal, let code = QRCode(link) { lines += code.lines }
            lines.append("the fingerprint of its certificate is \(network.fingerprint)")
        }
        return lines.joined(separator: "\n")
    }

    private struct Figures: Encodable {
        let event = "web"
        let link: String
        let networkLink: String?
        let fingerprint: String?

        init(_ entry: WebServer.Entry, _ network: PageNetwork?) {
            link = entry.link.absoluteString
            networkLink = entry.networkLink?.absoluteString
            fingerprint = network?.fingerprint
        }

        private enum CodingKeys: String, CodingKey { case event, link, networkLink, fingerprint }
    }
}
