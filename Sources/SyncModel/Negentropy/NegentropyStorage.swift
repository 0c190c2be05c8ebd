/// The items of one side, sorted, without duplicates, and unchanging while a reconciliation runs.
///
/// Indices are 0..<``count``. Ranges and indices that are asked for always lie within.
package protocol NegentropyStorage: Sendable {
    /// How many items there are.
    var count: Int { get }

    /// The item at an index.
    func item(at index: Int) -> NegentropyItem

    /// The items of a range, in order.
    func items(in range: Range<Int>) -> ArraySlice<NegentropyItem>

    /// The index of the first item in `range` that is not less than `position`; the end of the range if all are.
    func lowerBound(of position: NegentropyItem, in range: Range<Int>) -> Int

    /// The 16 bytes that stand for all items of a range; see ``ZoneDigest/fingerprint``.
    ///
    /// Asked for about 16 times for every range that differs, so it should not cost time in proportion to the
    /// range.
    func fingerprint(of range: Range<Int>) -> [UInt8]
}
