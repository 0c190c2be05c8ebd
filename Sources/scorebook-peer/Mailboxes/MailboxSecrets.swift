import Foundation
import PeerSyncMailbox
import PeerSyncMailboxHTTP

/// What this machine needs for a mailbox on a server, and keeps out of the database.
struct MailboxSecrets: Codable, Sendable {
    /// The name of the user, or the access key.
    let user: String
    let secret: String
    /// A certificate as PEM that this machine trusts there, beside those of its system.
    let certificate: String?
}

extension MailboxPlace {
    /// The storage there. Nothing is read or sent yet.
    ///
    /// - Parameter secrets: nil for a folder, and when this machine knows none.
    /// - Throws: `MailboxError`.
    func storage(_ secrets: MailboxSecrets?) throws -> any MailboxStorage {
        switch self {
        case .folder(let path): return FolderStorage(at: URL(fileURLWithPath: path, isDirectory: true))
        case .webdav, .s3:
            guard Self.hasServers else { throw MailboxError.noServers }
            guard let secrets else {
                throw MailboxError(.credentials, "this machine knows no password for \(text)")
            }
            return try serverStorage(secrets)
        }
    }

    #if WebStorage
        /// Whether this program reaches servers.
        static let hasServers = true

        private func serverStorage(_ secrets: MailboxSecrets) throws -> any MailboxStorage {
            let credentials = WebCredentials(user: secrets.user, secret: secrets.secret)
            let trusted = secrets.certificate.map { Array($0.utf8) }
            switch self {
            case .folder(let path): return FolderStorage(at: URL(fileURLWithPath: path, isDirectory: true))
            case .webdav(let address):
                return try WebDAVStorage(at: address, credentials: credentials, trusting: trusted)
            case .s3(let bucket): return try S3Storage(in: bucket, credentials: credentials, trusting: trusted)
            }
        }
    #else
        static let hasServers = false

        private func serverStorage(_ secrets: MailboxSecrets) throws -> any MailboxStorage {
            throw MailboxError.noServers
        }
    #endif
}

extension MailboxError {
    static let noServers = MailboxError(
        .other,
        "this program was built with mailboxes in folders only; the Debian package has the others, and so has `swift build --traits "
            + "WebStorage`")
}
