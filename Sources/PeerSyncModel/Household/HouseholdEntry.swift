/// An introduction, and whether somebody removed it. A removal comes with what it removes, so it always finds room, and
/// nobody has to keep removals of unknown things.
package struct HouseholdEntry: Sendable, Hashable {
    /// The end of an introduction, for good.
    package struct Removal: Sendable, Hashable, Comparable {
        /// The static key of the machine that removed it. A member may lie about it.
        package let remover: [UInt8]
        /// When, in milliseconds since 1970.
        package let time: Int64

        /// - Returns: nil when a part breaks its bound.
        package init?(by remover: [UInt8], time: Int64) {
            guard remover.count == Introduction.keyLength, time >= 0,
                UInt64(time) <= VariableLengthInteger.maximum
            else { return nil }
            self.remover = remover
            self.time = time
        }

        package static func < (left: Removal, right: Removal) -> Bool {
            left.time == right.time
                ? left.remover.lexicographicallyPrecedes(right.remover) : left.time < right.time
        }
    }

    package let introduction: Introduction
    package var removal: Removal?

    package init(_ introduction: Introduction, removal: Removal? = nil) {
        self.introduction = introduction
        self.removal = removal
    }

    package var id: Introduction.ID { introduction.id }

    /// The union with another entry of the same introduction.
    package func merged(with other: HouseholdEntry) -> HouseholdEntry {
        HouseholdEntry(introduction, removal: [removal, other.removal].compactMap(\.self).min())
    }

    /// The canonical encoding.
    package var encoded: [UInt8] {
        var bytes = introduction.encoded
        bytes.append(removal == nil ? 0 : 1)
        if let removal {
            bytes += removal.remover
            VariableLengthInteger.append(UInt64(removal.time), to: &bytes)
        }
        return bytes
    }
}
