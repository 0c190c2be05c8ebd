import FuzzTargets
import PeerSyncModel
import TestSupport
import Testing

/// What the fuzzer checks holds for the vectors, for what it has found before, and for some thousands of variations of
/// both. The fuzzer itself, with millions, is scripts/fuzz. One after the other, so that other tests have a processor.
@Suite(.serialized) struct FuzzTargetsTests {
    /// How many variations of its seeds each entry is given.
    private static let variations = 3000

    @Test(arguments: FuzzEntry.allCases)
    func seedsHold(entry: FuzzEntry) throws {
        for seed in try FuzzSeeds.seeds(of: entry) { hold(entry, seed) }
    }

    @Test func whatWasFoundStaysMended() throws {
        for (name, entry, bytes) in try FuzzSeeds.found() {
            #expect(throws: Never.self, "\(name)") { try entry.run(bytes) }
        }
    }

    @Test(arguments: FuzzEntry.allCases)
    func variationsHold(entry: FuzzEntry) async throws {
        var mutator = Mutator(seeds: try FuzzSeeds.seeds(of: entry), maximumLength: entry.maximumLength)
        for _ in 0..<Self.variations {
            await Task.yield()
            hold(entry, mutator.next())
        }
    }

    /// Whatever comes, and however little.
    @Test(arguments: FuzzEntry.allCases)
    func everyModeTakesEverything(entry: FuzzEntry) {
        for mode in 0..<entry.modes {
            hold(entry, [UInt8(mode)])
            for byte: UInt8 in [0, 1, 0x7F, 0xFF] {
                hold(entry, [UInt8(mode)] + [UInt8](repeating: byte, count: entry.maximumLength - 1))
            }
        }
    }

    private func hold(_ entry: FuzzEntry, _ bytes: [UInt8]) {
        do {
            try entry.run(bytes)
        } catch {
            Issue.record("\(entry.rawValue) with \(bytes.hexadecimal): \(error)")
        }
    }
}

/// Varies inputs as a fuzzer does, but in the same way in every run.
private struct Mutator {
    let seeds: [[UInt8]]
    let maximumLength: Int
    private var random = SeededGenerator(seed: 1)

    init(seeds: [[UInt8]], maximumLength: Int) {
        self.seeds = seeds
        self.maximumLength = maximumLength
    }

    mutating func next() -> [UInt8] {
        var bytes = seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) { vary(&bytes) }
        return Array(bytes.prefix(maximumLength))
    }

    private mutating func vary(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else {
            bytes = (0..<16).map { _ in .random(in: 0...255, using: &random) }
            return
        }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[index] = [0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xC0, 0xFF].randomElement(using: &random)!
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: index)
        case 3: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...8, using: &random)))
        case 4:
            // A part of it once more.
            let end = min(bytes.count, index + Int.random(in: 1...32, using: &random))
            bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
        default:
            let other = seeds.randomElement(using: &random) ?? []
            bytes = bytes.prefix(index) + other.suffix(Int.random(in: 0...other.count, using: &random))
        }
    }
}
