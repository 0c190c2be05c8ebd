/// The folder of objects in a mailbox: 1 to 64 of the characters `a` to `z`, `0` to `9` and `-`, not beginning with `-`.
///
/// Such a name is a safe part of a path and of a URL on every system.
public struct MailboxFolder: Sendable, Hashable, CustomStringConvertible {
    /// The name, without a slash.
    public let description: String

    /// Takes a name; nil when it is none.
    public init?(_ text: some StringProtocol) {
        guard isNamePart(text) else { return nil }
        description = String(text)
    }
}

/// The name of an object: a folder, `/`, and a name of the same form as a folder's.
public struct MailboxObjectName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The folder.
    public let folder: MailboxFolder
    /// The part after the slash.
    public let last: String

    /// Takes the two parts of a name; nil when the second one is none. A storage makes names from what it lists in a folder, and leaves out what
    /// gives nil.
    public init?(_ folder: MailboxFolder, _ last: some StringProtocol) {
        guard isNamePart(last) else { return nil }
        self.folder = folder
        self.last = String(last)
    }

    /// Takes a whole name; nil when it is none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let folder = MailboxFolder(parts[0]) else { return nil }
        self.init(folder, parts[1])
    }

    /// The whole name, with one slash.
    public var description: String { "\(folder)/\(last)" }

    public static func < (a: Self, b: Self) -> Bool { a.description < b.description }
}

private func isNamePart(_ text: some StringProtocol) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
        && text.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
        }
}
