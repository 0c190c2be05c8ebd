/// Finds the stamp that most fields of a record share, so that the others can be written as exceptions to it.
package enum StampRun {
    /// The most frequent stamp, the earliest of those that are equally frequent; nil for none.
    ///
    /// Most records have one stamp; those are found in one pass without counting.
    package static func mostFrequent(_ stamps: [Stamp]) -> Stamp? {
        guard let first = stamps.first else { return nil }
        if stamps.allSatisfy({ $0 == first }) { return first }
        var counts: [Stamp: Int] = [:]
        for stamp in stamps { counts[stamp, default: 0] += 1 }
        return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }
}
