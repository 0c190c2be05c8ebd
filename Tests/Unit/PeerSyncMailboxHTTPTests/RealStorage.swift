import Foundation
import PeerSyncMailbox
import Testing

@testable import PeerSyncMailboxHTTP

/// A server that somebody has started for the tests: `scripts/mailbox-storage` describes them in a file, which SCOREBOOK_STORAGES names.
struct RealStorage: Decodable, Sendable, CustomTestStringConvertible {
    enum Kind: String, Decodable { case webdav, s3 }

    let name: String
    let kind: Kind
    let address: String
    let user: String
    let secret: String
    /// The path of a certificate.
    let certificate: String

    var testDescription: String { name }

    static let all: [RealStorage] = {
        guard let path = ProcessInfo.processInfo.environment["SCOREBOOK_STORAGES"] else { return [] }
        do {
            return try JSONDecoder().decode(
                [RealStorage].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            fatalError("\(path) describes no servers: \(error)")
        }
    }()

    static func all(_ kind: Kind) -> [RealStorage] { all.filter { $0.kind == kind } }

    #if WebStorage
        /// - Parameters:
        ///   - address: where to reach it, as through a proxy; nil for its own address.
        ///   - user: nil for the user that it knows.
        ///   - secret: nil for the secret that it knows.
        func storage(
            at address: String? = nil, user: String? = nil, secret: String? = nil,
            bucket: String = "scorebook/tests",
            isTrusting: Bool = true, patience: WebClient.Patience = .init()
        ) throws -> any MailboxStorage {
            let place = try WebAddress(address ?? self.address)
            let credentials = WebCredentials(user: user ?? self.user, secret: secret ?? self.secret)
            let trusted = try isTrusting ? Array(Data(contentsOf: URL(fileURLWithPath: certificate))) : nil
            let client = try WebClient(place, trusting: trusted, patience: patience)
            return switch kind {
            case .webdav: WebDAVStorage(client, credentials)
            case .s3: S3Storage(in: try S3Bucket(bucket, at: place), credentials: credentials, client: client)
            }
        }
    #endif
}
