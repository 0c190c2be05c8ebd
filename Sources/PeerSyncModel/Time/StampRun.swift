/// The encoded form of the stamps of a record's fields: the stamp that most fields share, and the exceptions to it.
package struct StampRun {
    /// The most frequent stamp; the earliest one if several are equally frequent; nil for no fields.
    package let base: Stamp?
    /// The fields with other stamps, by index, in order.
    package let exceptions: [(field: Int, stamp: Stamp)]

    /// Appends the number of exceptions, and each exception with the index of its field.
    package func appendExceptions(to output: inout [UInt8], _ append: (Stamp, inout [UInt8]) -> Void) {
        VariableLengthInteger.append(UInt64(exceptions.count), to: &output)
        for (field, stamp) in exceptions {
            VariableLengthInteger.append(UInt64(field), to: &output)
            append(stamp, &output)
        }
    }
}

extension StampRun {
    package init(_ state: RecordState) {
        // Most records have one stamp, and need no counting.
        if let stamp = state.soleStamp {
            self.init(base: stamp, exceptions: [])
        } else {
            self.init(state.fields.map(\.stamp))
        }
    }

    package init(_ stamps: [Stamp]) {
        guard let first = stamps.first, stamps.contains(where: { $0 != first }) else {
            self.init(base: stamps.first, exceptions: [])
            return
        }
        let base = Self.mostFrequent(stamps)
        let exceptions = stamps.indices.filter { stamps[$0] != base }
        self.init(base: base, exceptions: exceptions.map { ($0, stamps[$0]) })
    }

    /// The most frequent stamp; the earliest one if several are equally frequent.
    private static func mostFrequent(_ stamps: [Stamp]) -> Stamp? {
        // A stamp that more than half of the fields have, as after one write, is the one that is left when each other cancels
        // one of it out.
        var candidate = stamps.first
        var lead = 0
        for stamp in stamps {
            if lead == 0 { candidate = stamp }
            lead += stamp == candidate ? 1 : -1
        }
        if stamps.count(where: { $0 == candidate }) > stamps.count / 2 { return candidate }
        var counts: [Stamp: Int] = [:]
        for stamp in stamps { counts[stamp, default: 0] += 1 }
        return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }
}
