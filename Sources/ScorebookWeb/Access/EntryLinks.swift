import Foundation
import Synchronization

/// The secrets in the links that let browsers in.
final class EntryLinks: Sendable {
    /// How long a link lets one browser in, in seconds.
    static let lifetime: Int64 = 600
    /// The maximum number of links that wait for a browser. The oldest ones end first.
    static let maximumCount = 20

    private struct Link {
        let secret: String
        let rights: BrowserRights
        /// In seconds since 1970.
        let expires: Int64
    }

    /// The secret that lets browsers of this machine in as long as the server runs, any number of them.
    let ownSecret = Secret.make()
    private let links = Mutex<[Link]>([])

    /// Makes a link that lets one browser in, once.
    ///
    /// - Returns: its secret.
    func make(for rights: BrowserRights) -> String {
        let link = Link(secret: Secret.make(), rights: rights, expires: Self.now + Self.lifetime)
        links.withLock { $0 = Array(($0 + [link]).suffix(Self.maximumCount)) }
        return link.secret
    }

    /// Whether the secret is that of this machine's browsers. Takes the same time for each wrong one of its length.
    func isOwn(_ secret: String) -> Bool { Secret.areEqual(secret, ownSecret) }

    /// What the browser may do that comes by a link; nil for one that is used, expired or none.
    func find(_ secret: String) -> BrowserRights? {
        links.withLock { links in valid(links).first { Secret.areEqual($0.secret, secret) }?.rights }
    }

    /// The same, and ends the link.
    func take(_ secret: String) -> BrowserRights? {
        links.withLock { links in
            links = valid(links)
            guard let place = links.firstIndex(where: { Secret.areEqual($0.secret, secret) }) else {
                return nil
            }
            return links.remove(at: place).rights
        }
    }

    private func valid(_ links: [Link]) -> [Link] {
        let now = Self.now
        return links.filter { $0.expires > now }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
