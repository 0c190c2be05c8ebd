import Foundation
import PeerSyncModel

/// The names of files that are being written. One folder may be a folder on one machine, and on a server for another one, so all storages
/// call them alike. Programs that carry folders to other machines leave files alone whose name begins with a dot, or carry them in vain.
package enum TemporaryName {
    private static let prefix = ".put-"

    /// The age, in seconds, from which nobody writes a file any more. Whoever removes one too early because of a wrong clock makes
    /// a put fail, which the mailbox repeats.
    package static let staleAge: TimeInterval = 24 * 3600

    package static func new() -> String { prefix + Sealing.randomBytes(16).hexadecimal }

    /// Others may have chosen the name, and one that is removed becomes part of a path: so it has nothing but the digits of ``new()``.
    package static func isOne(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).wholeMatch(of: /[0-9a-f]{32}/) != nil
    }
}
