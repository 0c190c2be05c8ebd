import Foundation
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// An inventory answers as a list in memory does, whether it fits into memory or not.
struct InventoryTests {
    private static func item(_ number: Int) -> NegentropyItem {
        var bytes = [UInt8](repeating: 0, count: NegentropyID.byteCount)
        for place in 0..<8 { bytes[place] = UInt8(truncatingIfNeeded: (number &* 7_919) >> (8 * place)) }
        bytes[31] = UInt8(truncatingIfNeeded: number)
        // Several items share a timestamp.
        return NegentropyItem(timestamp: UInt64((number &* 31) % 97), id: NegentropyID(bytes)!)
    }

    private func inventory(
        _ numbers: some Sequence<Int>, limit: Int,
        in directory: URL? = FileManager.default.temporaryDirectory
    ) throws -> Inventory {
        var writer = InventoryWriter(limit: limit, directory: directory)
        for number in numbers { try writer.append(Self.item(number), changeSequence: Int64(number)) }
        return try writer.finish()
    }

    /// Counts around the ends of blocks and of runs.
    @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 129, 640, 1000], [1, 64, 100, 10_000])
    func anInventoryIsTheSortedList(count: Int, limit: Int) throws {
        let inventory = try inventory(0..<count, limit: limit)
        let vector = try NegentropyVector((0..<count).map(Self.item))
        #expect(inventory.count == count)
        #expect(try inventory.items(in: 0..<count) == vector.items(in: 0..<count))
        for range in [0..<count, 0..<0, count..<count, count / 3..<count / 2, min(count, 64)..<count] {
            #expect(try inventory.fingerprint(of: range) == vector.fingerprint(of: range))
            #expect(try Array(inventory.items(in: range)) == Array(vector.items(in: range)))
        }
        for number in [-1, 0, count / 2, count] {
            let position = Self.item(number + 5000)
            #expect(
                try inventory.lowerBound(of: position, in: 0..<count)
                    == vector.lowerBound(of: position, in: 0..<count))
            guard (0..<count).contains(number) else { continue }
            #expect(try inventory.item(at: number) == vector.item(at: number))
            #expect(
                try inventory.lowerBound(of: vector.item(at: number), in: 0..<count)
                    == vector.lowerBound(of: vector.item(at: number), in: 0..<count))
        }
    }

    @Test(arguments: [10, 10_000]) func anInventoryKnowsTheChangeOfAnID(limit: Int) throws {
        let inventory = try inventory(0..<200, limit: limit)
        let ids = Set([0, 77, 199, 4711].map { Self.item($0).id })
        #expect(try inventory.changeSequences(of: ids).sorted() == [0, 77, 199])
    }

    /// As beside a database in a directory that nobody may write to.
    @Test(arguments: [nil, URL(fileURLWithPath: "/nowhere")])
    func whereNoFileCanBeItIsInMemory(directory: URL?) throws {
        let inventory = try inventory(0..<200, limit: 10, in: directory)
        #expect(try Array(inventory.items(in: 0..<200)) == (0..<200).map(Self.item).sorted())
    }

    @Test(arguments: [2, 10_000]) func anItemThatOccursTwiceIsRefused(limit: Int) {
        #expect(throws: NegentropyError.duplicateItem) { try inventory([1, 2, 3, 1], limit: limit) }
    }

    /// What cannot be read is no end of the list.
    @Test func aFileThatIsTooShortIsUnreadable() throws {
        let file = try PosixFile.unnamed(in: FileManager.default.temporaryDirectory)
        try [UInt8](repeating: 0, count: 40).withUnsafeBytes { try file.write($0, at: 0) }
        let inventory = Inventory(count: 1, .file(file))
        #expect(throws: NegentropyError.unreadable) { try inventory.item(at: 0) }
        #expect(throws: NegentropyError.unreadable) { try inventory.fingerprint(of: 0..<1) }
    }
}
