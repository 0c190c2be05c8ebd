import PeerSyncModel

/// Sorts the items of a zone. It holds ``limit`` of them in memory; if there are more, it writes each such run to a file, and
/// merges the runs in the end.
package struct InventoryWriter {
    /// 1.5 MiB of items.
    package static let usualLimit = 32_768

    private let limit: Int
    private var entries: [Inventory.Entry] = []
    private var file: PosixFile?
    private var runs: [Run] = []
    private var runBytes = 0

    /// - Parameter limit: the number of items in memory.
    init(limit: Int = usualLimit) { self.limit = limit }

    /// - Throws: ``PosixError`` when the file cannot be written.
    mutating func append(_ item: NegentropyItem, changeSequence: Int64) throws {
        if entries.count >= limit { try writeRun() }
        entries.append(.init(item: item, changeSequence: changeSequence))
    }

    /// - Throws: ``PosixError`` when the file cannot be written or read; ``NegentropyError`` if an item occurs twice.
    mutating func finish() throws -> Inventory {
        guard file != nil else {
            sort()
            var blocks = BlockWriter(file: nil, from: 0)
            for entry in entries { try blocks.append(entry) }
            return try blocks.finish()
        }
        try writeRun()
        var blocks = BlockWriter(file: file, from: Int64(runBytes))
        var next = MaxHeap<Inventory.Entry, First>()
        for index in runs.indices {
            if let entry = try runs[index].next(file) {
                next.insert(entry, First(item: entry.item, run: index))
            }
        }
        while let (entry, key) = next.popMax() {
            try blocks.append(entry)
            guard let entry = try runs[key.run].next(file) else { continue }
            next.insert(entry, First(item: entry.item, run: key.run))
        }
        return try blocks.finish()
    }

    private mutating func sort() { entries.sort { $0.item < $1.item } }

    private mutating func writeRun() throws {
        sort()
        let file = try self.file ?? PosixFile.temporary()
        self.file = file
        let count = try entries.withUnsafeBytes { bytes in
            try file.write(bytes, at: Int64(runBytes))
            return bytes.count
        }
        runs.append(Run(rest: runBytes..<runBytes + count))
        runBytes += count
        entries.removeAll(keepingCapacity: true)
    }

    /// The greatest of these has the least item.
    private struct First: Comparable {
        let item: NegentropyItem
        let run: Int

        static func < (left: First, right: First) -> Bool { right.item < left.item }
    }

    /// A sorted run in the file.
    private struct Run {
        /// The bytes that were not read yet.
        var rest: Range<Int>
        private var entries: ArraySlice<Inventory.Entry> = []

        init(rest: Range<Int>) { self.rest = rest }

        mutating func next(_ file: PosixFile?) throws -> Inventory.Entry? {
            if entries.isEmpty, !rest.isEmpty {
                let part = rest.prefix(Inventory.blockSize * Inventory.Entry.byteCount)
                let bytes = try file?.read(at: Int64(part.lowerBound), upTo: part.count) ?? []
                guard bytes.count == part.count else { throw NegentropyError.unreadable }
                entries = Inventory.entries(bytes[...])[...]
                rest = part.upperBound..<rest.upperBound
            }
            return entries.popFirst()
        }
    }

    /// Writes the blocks of an inventory to the file, or into memory if there is none.
    private struct BlockWriter {
        private static let bufferSize = 1 << 20

        let file: PosixFile?
        let start: Int64
        private var buffer: [UInt8] = []
        private var written: Int64 = 0
        private var count = 0
        private var sum = NegentropySum()
        private var last: NegentropyItem?

        init(file: PosixFile?, from start: Int64) {
            self.file = file
            self.start = start
        }

        mutating func append(_ entry: Inventory.Entry) throws {
            if let last, last >= entry.item { throw NegentropyError.duplicateItem }
            last = entry.item
            if count.isMultiple(of: Inventory.blockSize) { try beginBlock() }
            withUnsafeBytes(of: entry) { buffer.append(contentsOf: $0) }
            sum += entry.item.id
            count += 1
        }

        mutating func finish() throws -> Inventory {
            // The sum of all ids stands in a block of its own when the others are full.
            if count.isMultiple(of: Inventory.blockSize) { try beginBlock() }
            guard let file else { return Inventory(count: count, .memory(buffer)) }
            try flush(file)
            return Inventory(count: count, .file(file, from: start))
        }

        private mutating func beginBlock() throws {
            if let file, buffer.count >= Self.bufferSize { try flush(file) }
            buffer.append(contentsOf: sum.bytes)
        }

        private mutating func flush(_ file: PosixFile) throws {
            try buffer.withUnsafeBytes { try file.write($0, at: start + written) }
            written += Int64(buffer.count)
            buffer.removeAll(keepingCapacity: true)
        }
    }
}
