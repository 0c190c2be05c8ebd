import Foundation
import PeerSyncModel

/// Sorts the items of a zone. It holds some of them in memory. If there are more, it writes each such run to a file beside the database, and
/// merges the runs into another one in the end: where the records are, their ids may be, too. Where no file can be made, it
/// holds all in memory.
package struct InventoryWriter {
    /// 1.5 MiB of items.
    package static let usualLimit = 32_768

    private let limit: Int
    private let directory: URL?
    private var entries: [Inventory.Entry] = []
    /// The files of the runs, and of the inventory; nil as long as all are in memory.
    private var files: (runs: PosixFile, blocks: PosixFile)?
    private var runs: [Run] = []
    private var runBytes = 0

    /// - Parameters:
    ///   - limit: the number of items in memory.
    ///   - directory: where the files may be; nil if nowhere.
    init(limit: Int = usualLimit, directory: URL?) {
        self.limit = limit
        self.directory = directory
    }

    /// - Throws: ``PosixError`` when the file cannot be written.
    mutating func append(_ item: NegentropyItem, changeSequence: Int64) throws {
        if entries.count == limit { makeFiles() }
        if entries.count >= limit, let files { try writeRun(to: files.runs) }
        entries.append(.init(item: item, changeSequence: changeSequence))
    }

    /// - Throws: ``PosixError`` when the file cannot be written or read; ``NegentropyError`` if an item occurs twice.
    mutating func finish() throws -> Inventory {
        guard let files else {
            sort()
            var blocks = BlockWriter(file: nil)
            for entry in entries { try blocks.append(entry) }
            return try blocks.finish()
        }
        try writeRun(to: files.runs)
        var blocks = BlockWriter(file: files.blocks)
        var next = MaxHeap<Inventory.Entry, First>()
        for index in runs.indices {
            if let entry = try runs[index].next(files.runs) {
                next.insert(entry, First(item: entry.item, run: index))
            }
        }
        while let (entry, key) = next.popMax() {
            try blocks.append(entry)
            guard let entry = try runs[key.run].next(files.runs) else { continue }
            next.insert(entry, First(item: entry.item, run: key.run))
        }
        return try blocks.finish()
    }

    private mutating func sort() { entries.sort { $0.item < $1.item } }

    private mutating func makeFiles() {
        guard files == nil, let directory, let runs = try? PosixFile.unnamed(in: directory),
            let blocks = try? PosixFile.unnamed(in: directory)
        else { return }
        files = (runs, blocks)
    }

    private mutating func writeRun(to file: PosixFile) throws {
        sort()
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

        mutating func next(_ file: PosixFile) throws -> Inventory.Entry? {
            if entries.isEmpty, !rest.isEmpty {
                let part = rest.prefix(Inventory.blockSize * Inventory.Entry.byteCount)
                let bytes = try file.read(at: Int64(part.lowerBound), upTo: part.count)
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
        private var buffer: [UInt8] = []
        private var written: Int64 = 0
        private var count = 0
        private var sum = NegentropySum()
        private var last: NegentropyItem?

        init(file: PosixFile?) { self.file = file }

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
            return Inventory(count: count, .file(file))
        }

        private mutating func beginBlock() throws {
            if let file, buffer.count >= Self.bufferSize { try flush(file) }
            buffer.append(contentsOf: sum.bytes)
        }

        private mutating func flush(_ file: PosixFile) throws {
            try buffer.withUnsafeBytes { try file.write($0, at: written) }
            written += Int64(buffer.count)
            buffer.removeAll(keepingCapacity: true)
        }
    }
}
