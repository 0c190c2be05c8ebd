#if os(Linux)
    import Foundation
    import Testing

    /// Each arena of glibc's allocator keeps memory that the others need.
    @Suite(.takingTurns) struct ArenaTests {
        @Test func aMachineThatSyncsHasTwoArenas() async throws {
            try await withPair { kitchen, study in
                let listener = try await kitchen.listen()
                try await kitchen.addGame("Catan")
                try await study.sync(listener)
                let maps = try String(
                    contentsOfFile: "/proc/\(listener.process.number)/maps", encoding: .utf8)
                // glibc puts each but the first at a multiple of 64 MiB. Maybe other memory lies at one by chance.
                let further = maps.split(separator: "\n").filter { line in
                    let parts = line.split(whereSeparator: { $0 == " " || $0 == "-" })
                    return line.contains(" rw-p 00000000 00:00 0")
                        && Int(parts[0], radix: 16).map { $0 % (64 << 20) == 0 } == true
                }
                #expect(further.count <= 1, "\(further.joined(separator: "\n"))")
            }
        }
    }
#endif
