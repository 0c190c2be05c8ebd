/// The items of one side, sorted and without duplicates. They do not change while a reconciliation runs.
///
/// Indices are 0..<``count``. Callers pass only ranges and indices within.
package protocol NegentropyStorage: Sendable {
    /// How many items there are.
    var count: Int { get }

    /// The item at an index.
    func item(at index: Int) -> NegentropyItem

    /// The items of a range, in order.
    func items(in range: Range<Int>) -> ArraySlice<NegentropyItem>

    /// The index of the first item in `range` that is not less than `position`; the end of the range if all are less.
    func lowerBound(of position: NegentropyItem, in range: Range<Int>) -> Int

    /// The 16 bytes that stand for all items of a range; see ``ZoneDigest/fingerprint``.
    ///
    /// A reconciliation calls this about 16 times for every range that differs, so the time must not grow with the
    /// range.
    func fingerprint(of range: Range<Int>) -> [UInt8]
}
