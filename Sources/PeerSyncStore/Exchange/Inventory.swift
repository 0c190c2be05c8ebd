import PeerSyncModel

/// The items of a zone at one moment, in order, for a reconciliation, each with the number of the change that gave the record its
/// id. ``InventoryWriter`` makes it.
///
/// Those of a large zone are in a file, so that they take no memory. It has no name that could be left behind.
package final class Inventory: NegentropyStorage {
    /// An item, in memory as in the file: nobody but this process reads it.
    struct Entry: BitwiseCopyable {
        let item: NegentropyItem
        let changeSequence: Int64

        static let byteCount = MemoryLayout<Entry>.size
    }

    /// Where the blocks are. Each block begins with the sum of all ids before it, and has ``blockSize`` entries; the last one has
    /// fewer. A fingerprint then takes two blocks, however long its range.
    enum Place {
        case memory([UInt8])
        case file(PosixFile)
    }

    static let blockSize = 64
    static let sumByteCount = 32
    private static let blockByteCount = sumByteCount + blockSize * Entry.byteCount

    package let count: Int
    private let place: Place

    init(count: Int, _ place: Place) {
        self.count = count
        self.place = place
    }

    // MARK: Reading

    package func item(at index: Int) throws(NegentropyError) -> NegentropyItem {
        let (block, place) = index.quotientAndRemainder(dividingBy: Self.blockSize)
        let offset = block * Self.blockByteCount + Self.sumByteCount + place * Entry.byteCount
        return Self.entries(try read(at: offset, Entry.byteCount)[...])[0].item
    }

    package func items(in range: Range<Int>) throws(NegentropyError) -> ArraySlice<NegentropyItem> {
        var items: [NegentropyItem] = []
        items.reserveCapacity(range.count)
        try forEach(in: range) { items.append($0.item) }
        return items[...]
    }

    /// O(1).
    package func fingerprint(of range: Range<Int>) throws(NegentropyError) -> [UInt8] {
        var sum = try sum(below: range.upperBound)
        sum -= try self.sum(below: range.lowerBound)
        return sum.fingerprint(count: UInt64(range.count))
    }

    /// Returns the numbers of the changes that gave records these ids. Reads every item.
    func changeSequences(of ids: Set<NegentropyID>) throws(NegentropyError) -> [Int64] {
        var sequences: [Int64] = []
        try forEach(in: 0..<count) { if ids.contains($0.item.id) { sequences.append($0.changeSequence) } }
        return sequences
    }

    private func forEach(in range: Range<Int>, _ body: (Entry) -> Void) throws(NegentropyError) {
        var next = range.lowerBound
        while next < range.upperBound {
            let (block, first) = next.quotientAndRemainder(dividingBy: Self.blockSize)
            let entries = try entries(ofBlock: block).dropFirst(first).prefix(range.upperBound - next)
            for entry in entries { body(entry) }
            next += entries.count
        }
    }

    private func sum(below index: Int) throws(NegentropyError) -> NegentropySum {
        let (block, place) = index.quotientAndRemainder(dividingBy: Self.blockSize)
        let bytes = try read(at: block * Self.blockByteCount, Self.sumByteCount + place * Entry.byteCount)
        guard var sum = NegentropySum(Array(bytes.prefix(Self.sumByteCount))) else { throw .unreadable }
        for entry in Self.entries(bytes.dropFirst(Self.sumByteCount)) { sum += entry.item.id }
        return sum
    }

    private func entries(ofBlock block: Int) throws(NegentropyError) -> [Entry] {
        let count = min(Self.blockSize, self.count - block * Self.blockSize)
        return Self.entries(
            try read(at: block * Self.blockByteCount + Self.sumByteCount, count * Entry.byteCount)[...])
    }

    /// Reads exactly as many bytes.
    private func read(at offset: Int, _ count: Int) throws(NegentropyError) -> [UInt8] {
        switch place {
        case .memory(let bytes): return Array(bytes[offset..<offset + count])
        case .file(let file):
            guard let bytes = try? file.read(at: Int64(offset), upTo: count), bytes.count == count
            else { throw .unreadable }
            return bytes
        }
    }

    static func entries(_ bytes: ArraySlice<UInt8>) -> [Entry] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Entry.byteCount).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: Entry.self)
            }
        }
    }
}
