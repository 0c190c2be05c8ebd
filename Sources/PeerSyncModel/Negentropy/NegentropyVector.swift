/// Items in memory: 40 bytes an item, and half a byte for the sums, which make every fingerprint cheap.
package struct NegentropyVector: NegentropyStorage {
    private let items: [NegentropyItem]
    /// The sum of the first n whole blocks at index n, beginning with n = 0.
    private let sums: [NegentropySum]

    /// The number of items in a block. A fingerprint adds at most the ids of two blocks one by one, however long its
    /// range.
    private static let blockSize = 64

    /// Sorts and seals the items. Sorted items cost one pass; others cost O(n log n), and memory for half of them in
    /// addition. The initializer sorts the array in place if it has no other owner.
    ///
    /// - Throws: ``NegentropyError`` if an item occurs twice, or carries the timestamp that stands for infinity.
    package init(_ items: consuming [NegentropyItem]) throws(NegentropyError) {
        var items = items
        if !Self.isStrictlyAscending(items) {
            items.sort()
            guard Self.isStrictlyAscending(items) else { throw .duplicateItem }
        }
        guard items.last?.timestamp != .max else { throw .reservedTimestamp }
        self.sums = Self.blockSums(of: items)
        self.items = items
    }

    package var count: Int { items.count }

    package func item(at index: Int) -> NegentropyItem { items[index] }

    package func items(in range: Range<Int>) -> ArraySlice<NegentropyItem> { items[range] }

    /// O(1).
    package func fingerprint(of range: Range<Int>) -> [UInt8] {
        var sum = sum(below: range.upperBound)
        sum -= self.sum(below: range.lowerBound)
        return sum.fingerprint(count: UInt64(range.count))
    }

    /// Returns the sum of all ids before an index.
    private func sum(below index: Int) -> NegentropySum {
        let block = index / Self.blockSize
        var sum = sums[block]
        for position in block * Self.blockSize..<index {
            sum += items[position].id
        }
        return sum
    }

    private static func blockSums(of items: [NegentropyItem]) -> [NegentropySum] {
        var sums: [NegentropySum] = []
        sums.reserveCapacity(items.count / blockSize + 1)
        var sum = NegentropySum()
        sums.append(sum)
        for index in items.indices {
            sum += items[index].id
            if (index + 1).isMultiple(of: blockSize) { sums.append(sum) }
        }
        return sums
    }

    private static func isStrictlyAscending(_ items: [NegentropyItem]) -> Bool {
        items.indices.dropFirst().allSatisfy { items[$0 - 1] < items[$0] }
    }
}
