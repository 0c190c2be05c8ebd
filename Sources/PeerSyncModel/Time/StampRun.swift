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
        var counts: [Stamp: Int] = [:]
        for stamp in stamps { counts[stamp, default: 0] += 1 }
        let base = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        let exceptions = stamps.enumerated().filter { $0.element != base }
        self.init(base: base, exceptions: exceptions.map { ($0.offset, $0.element) })
    }
}
