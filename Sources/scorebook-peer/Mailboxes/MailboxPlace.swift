import Foundation
import PeerSyncMailbox
import PeerSyncMailboxHTTP
import Scorebook

/// Where a mailbox lies. The store keeps it as one line without secrets: `folder PATH`, `webdav URL`, or `s3 BUCKET ENDPOINT REGION`.
enum MailboxPlace: Equatable, Sendable {
    case folder(path: String)
    case webdav(WebAddress)
    case s3(S3Bucket)

    /// Reads the line of a store.
    ///
    /// - Throws: `MailboxError` `invalid` for a line that this version does not know.
    init(location: String) throws {
        let parts = location.split(separator: " ", maxSplits: 1).map(String.init)
        let words = parts.count == 2 ? parts[1].split(separator: " ").map(String.init) : []
        switch parts.first {
        case "folder" where parts.count == 2: self = .folder(path: parts[1])
        case "webdav" where words.count == 1: self = .webdav(try WebAddress(words[0]))
        case "s3" where words.count == 3:
            self = .s3(try S3Bucket(words[0], at: WebAddress(words[1]), region: words[2]))
        default: throw MailboxError(.invalid, "this version does not know the kind of mailbox “\(location)”")
        }
    }

    var location: String {
        switch self {
        case .folder(let path): "folder \(path)"
        case .webdav(let address): "webdav \(address)"
        case .s3(let bucket): "s3 \(bucket.path) \(bucket.endpoint) \(bucket.region)"
        }
    }

    /// Whether two mailboxes would lie at one place. A region tells how to sign, and not where.
    func isSamePlace(as other: MailboxPlace) -> Bool {
        switch (self, other) {
        case (.s3(let one), .s3(let other)): one.path == other.path && one.endpoint == other.endpoint
        default: self == other
        }
    }

    /// The word that people type.
    var kind: String {
        switch self {
        case .folder: "folder"
        case .webdav: "webdav"
        case .s3: "s3"
        }
    }

    /// The place, for people.
    var text: String {
        switch self {
        case .folder(let path): path
        case .webdav(let address): address.description
        case .s3(let bucket): "\(bucket.path) at \(bucket.endpoint)"
        }
    }

    /// What a mailbox is called if nobody says otherwise.
    var usualName: String {
        switch self {
        // Folders may have names with line breaks.
        case .folder(let path): Display.printable(URL(fileURLWithPath: path).lastPathComponent)
        case .webdav(let address): address.host
        case .s3(let bucket): bucket.name
        }
    }

    /// A name for a mailbox there, which no other one has.
    func freeName(besides taken: Set<String>) -> String {
        // In bytes of UTF-8, as the store counts.
        func shortened(_ ending: String) -> String {
            var name = usualName
            while name.utf8.count + ending.utf8.count > 64 { name.removeLast() }
            return name + ending
        }
        var name = shortened("")
        var number = 2
        while taken.contains(name) {
            name = shortened(" \(number)")
            number += 1
        }
        return name
    }

    /// Whether it is on a server, which asks for a password.
    var isOnServer: Bool {
        if case .folder = self { false } else { true }
    }
}
