import NIOCore
import PeerSyncModel

/// Messages about the household that must be refused.
enum MalformedHouseholds {
    /// The parts of a set of one introduction, each of which a message breaks in its own way.
    private struct Parts {
        var key: UInt8 = 3
        var name: [UInt8] = [1, 0x61]
        var rights: UInt8 = 2
        var introducer: UInt8 = 1
        /// The time, and whether the introduction was removed.
        var rest: [UInt8] = [0, 0]

        var entry: [UInt8] {
            var bytes = [UInt8](repeating: 9, count: 16)
            bytes += [UInt8](repeating: key, count: 32)
            bytes += name
            bytes.append(rights)
            bytes += [UInt8](repeating: introducer, count: 32)
            bytes += rest
            return bytes
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func letters(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    private static func set(_ entries: [[UInt8]], _ parts: [UInt8]...) -> ByteBuffer {
        var bytes = [UInt8(entries.count)]
        for part in entries + parts { bytes += part }
        return .message(22, bytes)
    }

    private static func broken(_ why: String, _ change: (inout Parts) -> Void) -> (String, ByteBuffer) {
        var parts = Parts()
        change(&parts)
        return ("householdSet: " + why, set([parts.entry], [0, 0]))
    }

    static var messages: [(String, ByteBuffer)] { heads + entries + tails }

    private static var heads: [(String, ByteBuffer)] {
        let entry = Parts().entry
        let sorted = HouseholdVectors.household.entries.map(\.encoded)
        let count: [UInt8] = [2]
        return [
            ("household: a digest of 31 bytes", .message(21, zeros(31))),
            ("householdSet: 1,001 entries", .message(22, [0x43, 0xE9])),
            ("householdSet: fewer entries than it says", .message(22, count + entry)),
            ("householdSet: an entry twice", set([entry, entry], [0, 0])),
            ("householdSet: entries out of order", set(sorted.reversed(), [0, 0])),
        ]
    }

    private static var entries: [(String, ByteBuffer)] {
        [
            broken("rights 0") { $0.rights = 0 },
            broken("rights 3") { $0.rights = 3 },
            broken("a machine that introduces itself") { $0.introducer = 3 },
            broken("an empty name") { $0.name = [0] },
            broken("a name of 65 bytes") { $0.name = [0x40, 65] + letters(65) },
            broken("an escape character in a name") { $0.name = [2, 0x1B, 0x61] },
            broken("a name that turns the line") { $0.name = [3, 0xE2, 0x80, 0xAE] },
            broken("a name that is not UTF-8") { $0.name = [1, 0xFF] },
            broken("a flag of 2") { $0.rest = [0, 2] },
            broken("a removal that is cut off") { $0.rest = [0, 1] + zeros(31) },
        ]
    }

    private static var tails: [(String, ByteBuffer)] {
        [
            ("householdSet: port 65,536", set([], [0x80, 1, 0, 0, 0])),
            ("householdSet: 4,001 addresses", set([], [0, 0x4F, 0xA1])),
            ("householdSet: a key of 31 bytes", set([], [0, 1], zeros(31))),
            ("householdSet: an address of 256 bytes", set([], [0, 1], zeros(32), [0x41, 0], letters(256))),
        ]
    }
}
