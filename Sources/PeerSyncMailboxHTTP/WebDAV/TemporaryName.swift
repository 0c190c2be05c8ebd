import Foundation

/// The names of files that are being written, as ``/PeerSyncMailbox/FolderStorage`` calls them: one folder may be a folder on one machine, and
/// on a server for another one.
enum TemporaryName {
    private static let prefix = ".put-"

    /// The age, in seconds, from which nobody writes a file any more.
    static let staleAge: TimeInterval = 24 * 3600

    static func new() -> String {
        prefix
            + (0..<16).map { _ in
                let byte = String(UInt8.random(in: 0...255), radix: 16)
                return byte.count == 1 ? "0\(byte)" : byte
            }.joined()
    }

    /// Others may have chosen the name, and one that is removed becomes part of a path: so it has nothing but the digits of ``new()``.
    static func isOne(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).wholeMatch(of: /[0-9a-f]{32}/) != nil
    }
}
