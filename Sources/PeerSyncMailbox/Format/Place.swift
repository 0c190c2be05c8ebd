import PeerSyncModel

/// Where an object belongs: the associated data that ties it to there (Protocol/mailbox.md section 2.2).
package struct Place: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        case slot = 1
        case section = 2
        case core = 3
        case segment = 4
        case piece = 5
    }

    package let kind: Kind
    package let author: Author
    /// The log or the file epoch; zeros in a head.
    package let log: [UInt8]
    package let number: UInt64
    /// The hash of the file of a piece.
    package var file: [UInt8] = []

    /// A place in a head.
    package static func head(_ kind: Kind, of author: Author, counter: UInt64) -> Place {
        Place(kind: kind, author: author, log: LogID.none.bytes, number: counter)
    }

    package var bytes: [UInt8] {
        .text("scorebook-peer mailbox") + [MailboxFormat.version, kind.rawValue]
            + .text(author.app.description)
            + author.key + author.id.bytes + log + .number(number) + file
    }
}

/// A machine that writes to mailboxes of an app.
package struct Author: Sendable, Hashable {
    package let app: AppID
    /// The static key of the machine.
    package let key: [UInt8]
    package let id: AuthorID

    /// The replica that stamps the machine's writes.
    package var replica: ReplicaID { ReplicaID(hashing: key) }
}

/// Sixteen bytes that name something in a mailbox.
package protocol MailboxID: Sendable, Hashable {
    var bytes: [UInt8] { get }
    init(unchecked bytes: [UInt8])
}

extension MailboxID {
    package static var length: Int { 16 }

    /// - Returns: nil unless there are 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.init(unchecked: bytes)
    }

    /// That of nothing.
    package static var none: Self { Self(unchecked: [UInt8](repeating: 0, count: length)) }

    /// A new id.
    package static func random() -> Self { Self(unchecked: Sealing.randomBytes(length)) }

    package var hex: String { bytes.hexadecimal }
}

/// The name of an author in a mailbox, which says nothing about the machine.
package struct AuthorID: MailboxID {
    package let bytes: [UInt8]
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The folder of the author's objects.
    package var folder: MailboxFolder { MailboxFolder(hex)! }

    package func headName(_ counter: UInt64) -> MailboxObjectName {
        MailboxObjectName(MailboxFormat.heads, "\(hex)-\([UInt8].number(counter).hexadecimal)")!
    }

    /// The author and the counter in the name of a head; nil if it is none.
    package static func parse(_ name: MailboxObjectName) -> (author: AuthorID, counter: UInt64)? {
        let parts = name.last.split(separator: "-", omittingEmptySubsequences: false)
        guard name.folder == MailboxFormat.heads, parts.count == 2, parts[1].utf8.count == 16,
            let author = [UInt8](hexadecimal: parts[0]).flatMap({ AuthorID($0) }),
            let counter = UInt64(parts[1], radix: 16)
        else { return nil }
        return (author, counter)
    }
}

/// What names an object of an author for that author: the last part of its name; of a head, zeros and its counter.
package struct ObjectID: MailboxID {
    package let bytes: [UInt8]
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Takes the name of an object; nil if it is none of an author's.
    package init?(_ name: MailboxObjectName) {
        let text = AuthorID.parse(name).map {
            [UInt8].number(0).hexadecimal + [UInt8].number($0.counter).hexadecimal
        }
        guard let bytes = [UInt8](hexadecimal: text ?? name.last) else { return nil }
        self.init(bytes)
    }

    /// The counter of the head that it names; nil if it names something else.
    package var headCounter: UInt64? {
        bytes.prefix(8).allSatisfy { $0 == 0 } ? bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) } : nil
    }
}

/// A log of one author in one zone.
package struct LogID: MailboxID {
    package let bytes: [UInt8]
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// The span of an author's tokens in a zone in which none became void.
package struct HistoryID: MailboxID {
    package let bytes: [UInt8]
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// The span in which an author seals new files of a zone with one key.
package struct FileEpoch: MailboxID {
    package let bytes: [UInt8]
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}
