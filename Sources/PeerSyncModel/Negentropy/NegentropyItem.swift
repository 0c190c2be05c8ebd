/// The 32 bytes that name an item. Ids compare byte by byte, from the first.
package struct NegentropyID: Hashable, Sendable, BitwiseCopyable {
    /// The length of an id in bytes.
    package static let byteCount = 32

    // Little-endian words in the order of the bytes. A sum of ids needs words, and their alignment of 8 bytes gives an
    // item 40 bytes instead of 48.
    let word0, word1, word2, word3: UInt64

    /// Makes an id of 32 bytes; returns nil for any other number.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(zeroPadding: bytes[...])
    }

    /// Makes the id of one state of a record.
    package init(_ record: RecordID) {
        self = record.id
    }

    /// Makes an id from the 32 bytes that `body` writes. Those that it leaves out are zeros.
    init(writing body: (UnsafeMutableRawBufferPointer) -> Void) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words, body)
        word0 = UInt64(littleEndian: words.0)
        word1 = UInt64(littleEndian: words.1)
        word2 = UInt64(littleEndian: words.2)
        word3 = UInt64(littleEndian: words.3)
    }

    /// Makes an id from `prefix`, at most 32 bytes, and zeros after it.
    init(zeroPadding prefix: ArraySlice<UInt8>) {
        precondition(prefix.count <= Self.byteCount, "an id has 32 bytes")
        self.init { $0.copyBytes(from: prefix) }
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Lends the 32 bytes without putting them into an array.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let words = (word0.littleEndian, word1.littleEndian, word2.littleEndian, word3.littleEndian)
        return Swift.withUnsafeBytes(of: words) { body($0) }
    }

    /// Returns the number of leading bytes that two ids share: 0...32.
    func sharedPrefixLength(with other: NegentropyID) -> Int {
        var length = 0
        for (ours, theirs) in [
            (word0, other.word0), (word1, other.word1), (word2, other.word2), (word3, other.word3),
        ] {
            let equal = (ours ^ theirs).trailingZeroBitCount / 8
            length += equal
            if equal < 8 { break }
        }
        return length
    }
}

extension NegentropyID: Comparable {
    package static func < (left: NegentropyID, right: NegentropyID) -> Bool {
        if left.word0 != right.word0 { return left.word0.byteSwapped < right.word0.byteSwapped }
        if left.word1 != right.word1 { return left.word1.byteSwapped < right.word1.byteSwapped }
        if left.word2 != right.word2 { return left.word2.byteSwapped < right.word2.byteSwapped }
        return left.word3.byteSwapped < right.word3.byteSwapped
    }
}

extension NegentropyID: CustomStringConvertible {
    /// The 64 hexadecimal digits.
    package var description: String {
        bytes.hexadecimal
    }
}

/// The element that two sides compare: an id, and the timestamp that gives it its place. Items are ordered by
/// timestamp, then by id.
package struct NegentropyItem: Hashable, Sendable, BitwiseCopyable {
    /// Any number but the greatest, which stands for infinity. The two sides choose its unit.
    package let timestamp: UInt64
    package let id: NegentropyID

    package init(timestamp: UInt64, id: NegentropyID) {
        self.timestamp = timestamp
        self.id = id
    }

    /// Makes the item of a record that is not deleted: its newest stamp, and its id.
    ///
    /// If a revival is newer than every write, the id includes it, as the stamp of a field without a name. Such a
    /// revival keeps alive the record and the records above it, and the other side may lack it although the fields are
    /// equal. A hollow record has only a revival.
    ///
    /// - Parameters:
    ///   - stamps: the stamps of the fields, in order of name.
    ///   - valueHash: the hash of the fields' values.
    /// - Returns: nil for a record without writes and without a revival.
    package init?(
        name: RecordName, stamps: [(field: String, stamp: Stamp)], valueHash: [UInt8], revival: Stamp?
    ) {
        let newestWrite = stamps.lazy.map(\.stamp).max()
        guard let newest = latest(newestWrite, revival) else { return nil }
        let revivals = newest == newestWrite ? [] : [(field: "", stamp: newest)]
        let id = RecordID(
            name: name, stamps: revivals + stamps, valueHash: stamps.isEmpty ? [] : valueHash)
        self.init(timestamp: UInt64(newest.time.milliseconds), id: NegentropyID(id))
    }
}

extension NegentropyItem: Comparable {
    package static func < (left: NegentropyItem, right: NegentropyItem) -> Bool {
        left.timestamp == right.timestamp ? left.id < right.id : left.timestamp < right.timestamp
    }
}

/// The border between two ranges of items: a timestamp, and as much of an id as is needed.
///
/// A bound is exclusive for the range below it. The missing bytes of the id count as zeros.
package struct NegentropyBound: Hashable, Sendable {
    /// The least item that lies at or above the bound.
    package let position: NegentropyItem
    /// The number of bytes of the id in the encoding: 0...32.
    package let prefixLength: Int

    /// The bound above all items.
    package static let infinity = NegentropyBound(timestamp: .max)

    /// Makes a bound from its parts.
    ///
    /// - Parameter prefix: at most 32 bytes.
    package init(timestamp: UInt64, prefix: [UInt8] = []) {
        position = NegentropyItem(timestamp: timestamp, id: NegentropyID(zeroPadding: prefix[...]))
        prefixLength = prefix.count
    }

    /// Makes the bound just below an item, with its whole id.
    package init(before item: NegentropyItem) {
        position = item
        prefixLength = NegentropyID.byteCount
    }

    /// Makes the shortest bound with `last` below it and `first` above it, where `last` < `first`.
    package init(between last: NegentropyItem, and first: NegentropyItem) {
        if last.timestamp == first.timestamp {
            let length = min(first.id.sharedPrefixLength(with: last.id) + 1, NegentropyID.byteCount)
            self.init(timestamp: first.timestamp, prefix: Array(first.id.bytes.prefix(length)))
        } else {
            self.init(timestamp: first.timestamp)
        }
    }
}
