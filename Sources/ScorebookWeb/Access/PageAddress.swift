import Foundation
import PeerSync

/// Where the page is, and under which names it answers.
struct PageAddress: Sendable {
    private static let local: Set<String> = ["127.0.0.1", "localhost", "[::1]"]

    let port: Int
    /// What other devices of the network need; nil where only this machine reaches the page.
    let network: PageNetwork?

    var scheme: String { network == nil ? "http" : "https" }

    /// Whether the page answers to a host, as a request names it with or without a port. The addresses of this machine change with
    /// its networks, so they are asked for each time.
    func answers(to host: String) -> Bool {
        let name = Self.name(host)
        if Self.local.contains(name) { return true }
        guard let network else { return false }
        return network.names.contains(name) || OwnAddresses.all.contains(name)
    }

    /// The link with a secret, for a browser of this machine.
    func ownLink(_ secret: String) -> URL { link(secret, host: "127.0.0.1:\(port)") }

    /// The link with a secret, for a browser elsewhere.
    ///
    /// - Parameter host: where the browser that asks for the link has found the page, if it was somewhere else than on this machine.
    /// - Returns: a link that leads to this machine from wherever other devices are, as far as it is in any network.
    func link(_ secret: String, askedAt host: String? = nil) -> URL {
        if let host, !Self.local.contains(Self.name(host)) { return link(secret, host: host) }
        guard let network, let name = network.givenName ?? OwnAddresses.all.first else {
            return ownLink(secret)
        }
        return link(secret, host: "\(name):\(port)")
    }

    private func link(_ secret: String, host: String) -> URL {
        guard let url = URL(string: "\(scheme)://\(host)/enter?key=\(secret)") else {
            preconditionFailure("a host and hexadecimal digits make a URL")
        }
        return url
    }

    /// Returns a host without its port.
    private static func name(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host.lowercased() }
        return host[..<colon].lowercased()
    }
}
