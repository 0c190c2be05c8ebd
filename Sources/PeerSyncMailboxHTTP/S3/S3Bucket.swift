import PeerSyncMailbox

/// A bucket of a server that speaks the S3 API, or a folder in a bucket.
public struct S3Bucket: Sendable, Hashable, CustomStringConvertible {
    /// The server, as `https://s3.eu-central-1.amazonaws.com`.
    public let endpoint: WebAddress
    /// The name of the bucket.
    public let name: String
    /// What the names of the objects begin with, without the slash at its end; empty for the whole bucket.
    public let folder: String
    /// The region that signatures name. Servers that have no regions take any.
    public let region: String

    /// The region of servers that have none.
    public static let defaultRegion = "us-east-1"

    /// Names a bucket.
    ///
    /// - Parameters:
    ///   - text: the bucket, or the bucket, a slash and a folder in it.
    ///   - endpoint: the server.
    ///   - region: nil for what the server's address says, or else ``defaultRegion``.
    /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` for a name that no bucket has.
    public init(_ text: String, at endpoint: WebAddress, region: String? = nil) throws {
        let parts = text.split(separator: "/", maxSplits: 1)
        // The rules of AWS, with what older buckets have.
        guard let name = parts.first, name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-]{1,62}/) != nil else {
            throw MailboxError(
                .invalid, "the name of a bucket has 2 to 63 letters, digits, dots and hyphens")
        }
        let folder = parts.count > 1 ? parts[1].split(separator: "/").joined(separator: "/") : ""
        // Nothing to encode, and no part that a server takes for a way up.
        guard folder.utf8.count <= 200,
            folder.split(separator: "/").allSatisfy({
                $0.wholeMatch(of: /[A-Za-z0-9_\-][A-Za-z0-9._\-]*/) != nil
            })
        else {
            throw MailboxError(
                .invalid, "a folder in a bucket has at most 200 letters, digits, dots, hyphens and slashes")
        }
        self.name = String(name)
        self.folder = folder
        self.endpoint = endpoint
        self.region = region ?? Self.region(in: endpoint.host) ?? Self.defaultRegion
        guard self.region.wholeMatch(of: /[A-Za-z0-9\-]{1,64}/) != nil else {
            throw MailboxError(.invalid, "the name of a region has letters, digits and hyphens")
        }
    }

    /// As in `s3.eu-central-1.amazonaws.com` and `s3.fr-par.scw.cloud`.
    private static func region(in host: String) -> String? {
        host.lowercased().wholeMatch(of: /s3[.\-]([a-z0-9\-]+)\.[a-z0-9\-]+\.[a-z]+/).map { String($0.output.1) }
    }

    /// What the key of each object begins with.
    var prefix: String { folder.isEmpty ? "" : folder + "/" }

    /// The bucket and the folder in it, as ``init(_:at:region:)`` reads them.
    public var path: String { folder.isEmpty ? name : "\(name)/\(folder)" }

    public var description: String { "\(endpoint)/\(path)" }
}
