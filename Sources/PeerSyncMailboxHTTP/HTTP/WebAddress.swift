import Foundation
import PeerSyncMailbox

/// The address of a server on which a mailbox lies, as `https://cloud.example.org/remote.php/dav/files/ada/scorebook`.
///
/// It holds no password, and leads nowhere without TLS: the storage asks for a password with each request, and anybody on the way could read it.
/// Only this machine itself is reached without TLS, as through a tunnel.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    /// `https`, or `http` for this machine itself.
    public let scheme: String
    /// The server's name or IP address in lower case, an IPv6 address in brackets.
    public let host: String
    /// The port if it is not that of the scheme.
    public let port: Int?
    /// The path, percent-encoded; empty, or it begins with a slash and does not end with one.
    public let path: String

    /// Reads what somebody has typed.
    ///
    /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` for anything else than such an address. The message does not repeat a password.
    public init(_ text: String) throws {
        guard let parts = URLComponents(string: text), let host = parts.percentEncodedHost, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme)
        else {
            throw MailboxError(.invalid, "this is no address of a server, which begins with https://")
        }
        guard parts.user == nil, parts.password == nil else {
            throw MailboxError(
                .invalid,
                "the address holds a name or a password, which other users of this machine can read there")
        }
        guard parts.query == nil, parts.fragment == nil else {
            throw MailboxError(.invalid, "the address of a folder has no ? and no #")
        }
        guard scheme == "https" || Self.isThisMachine(host) else {
            throw MailboxError(
                .invalid,
                "without TLS anybody on the way to \(host) can read the password; use an address that begins with https://"
            )
        }
        self.scheme = scheme
        self.host = host.lowercased()
        port = parts.port == (scheme == "https" ? 443 : 80) ? nil : parts.port
        path = String(
            parts.percentEncodedPath.reversed().drop { $0 == "/" }.reversed()
        ).replacing(/\/\/+/, with: "/")
    }

    /// The scheme, host and port.
    public var origin: String { "\(scheme)://\(authority)" }

    /// The host and port, as the header `Host` has it.
    public var authority: String { host + (port.map { ":\($0)" } ?? "") }

    public var description: String { origin + path }

    private static func isThisMachine(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name == "[::1]" || name.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
    }
}
