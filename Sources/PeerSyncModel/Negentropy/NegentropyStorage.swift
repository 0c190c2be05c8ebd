/// The items of one side, sorted and without duplicates. They do not change while a reconciliation runs.
///
/// Indices are 0..<``count``. Callers pass only ranges and indices within. A storage that is not in memory throws
/// ``NegentropyError/unreadable`` when it cannot read its items.
package protocol NegentropyStorage: Sendable {
    /// The number of items.
    var count: Int { get }

    /// Returns the item at an index.
    func item(at index: Int) throws(NegentropyError) -> NegentropyItem

    /// Returns the items of a range, in order.
    func items(in range: Range<Int>) throws(NegentropyError) -> ArraySlice<NegentropyItem>

    /// Returns the 16 bytes that stand for all items of a range; see ``ZoneDigest/fingerprint``.
    ///
    /// A reconciliation calls this about 16 times for every range that differs, so the time must not grow with the
    /// range.
    func fingerprint(of range: Range<Int>) throws(NegentropyError) -> [UInt8]
}

extension NegentropyStorage {
    /// Returns the index of the first item in `range` that is not less than `position`, or the end of the range: in O(log n).
    package func lowerBound(of position: NegentropyItem, in range: Range<Int>) throws(NegentropyError) -> Int
    {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper {
            let middle = lower + (upper - lower) / 2
            if try item(at: middle) < position {
                lower = middle + 1
            } else {
                upper = middle
            }
        }
        return lower
    }
}
